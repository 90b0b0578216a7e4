import { createPrivateKey, sign, type KeyObject } from 'node:crypto'
import { BoundedCache } from '../../model/bounded-cache.ts'
import type { Clock } from '../../ports/clock.ts'
import { pooledRandom } from '../../model/random.ts'
import type { SandboxSession } from '../../model/sandboxes/sandbox.ts'

export const SIGNATURE_HEADER = 'cellblock-signature'

/** Maximum number of parsed keys; the oldest is removed first. */
const MAX_KEYS = 1_024

export interface SignedRequest {
  readonly sandboxId: string
  readonly method: string
  /** Path and query exactly as sent. */
  readonly target: string
  /** Epoch ms. */
  readonly timestamp: number
  /** 16 or more characters of base64url, never used twice. */
  readonly nonce: string
}

/** The bytes that are signed. */
export const stringToSign = (request: SignedRequest): string =>
  ['cellblock-v1', request.sandboxId, request.method, request.target, request.timestamp, request.nonce].join('\n')

export const signatureHeader = (key: KeyObject, request: SignedRequest): string =>
  `v1 ${request.timestamp} ${request.nonce} ${sign(null, Buffer.from(stringToSign(request)), key).toString('base64url')}`

/** Parses PKCS#8 DER in base64url. Throws for another key type than Ed25519. */
export function parsePrivateKey(privateKey: string): KeyObject {
  const key = createPrivateKey({ key: Buffer.from(privateKey, 'base64url'), format: 'der', type: 'pkcs8' })
  if (key.asymmetricKeyType !== 'ed25519') throw new Error('The private key of a sandbox must be an Ed25519 key.')
  return key
}

export type Signer = (session: SandboxSession, method: string, target: string) => string

/** Signs for any sandbox whose private key the session carries; a key is parsed once. */
export function createSigner(clock: Clock): Signer {
  const keys = new BoundedCache<string, KeyObject>(MAX_KEYS)
  const keyOf = (privateKey: string): KeyObject => keys.getOrCreate(privateKey, () => parsePrivateKey(privateKey))
  return (session, method, target) =>
    signatureHeader(keyOf(session.privateKey), {
      sandboxId: session.sandboxId,
      method,
      target,
      timestamp: clock.now(),
      nonce: pooledRandom(18).toString('base64url'),
    })
}
