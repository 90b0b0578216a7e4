import { SignatureV4 } from '@smithy/signature-v4'
import { createHash, createHmac, type Hash, type Hmac } from 'node:crypto'

/** Calls one action of Route 53 Resolver. Throws an Error named after the fault. */
export type ResolverApi = (action: string, input: object) => Promise<Record<string, unknown>>

export interface ResolverApiOptions {
  readonly region: string
  readonly credentials: ConstructorParameters<typeof SignatureV4>[0]['credentials']
  /** Default: the endpoint of the Region. */
  readonly endpoint?: string
}

/** AWS writes the message's name in both ways. */
interface Fault {
  readonly __type?: string
  readonly message?: string
  readonly Message?: string
}

const TIMEOUT_MS = 30_000

/** Route 53 Resolver by signed requests, because the AWS SDK's client of this service would bring a second copy of the SDK's parts for two calls. */
export function createResolverApi({ region, credentials, endpoint }: ResolverApiOptions): ResolverApi {
  const url = new URL(endpoint ?? `https://route53resolver.${region}.amazonaws.com`)
  const signer = new SignatureV4({ service: 'route53resolver', region, credentials, sha256: Sha256 })
  return async (action, input) => {
    const body = JSON.stringify(input)
    const { headers } = await signer.sign({
      method: 'POST',
      protocol: url.protocol,
      hostname: url.hostname,
      path: '/',
      headers: { host: url.host, 'content-type': 'application/x-amz-json-1.1', 'x-amz-target': `Route53Resolver.${action}` },
      body,
    })
    const answer = await fetch(url, { method: 'POST', headers, body, signal: AbortSignal.timeout(TIMEOUT_MS) })
    const said = (await answer.json().catch(() => ({}))) as Fault & Record<string, unknown>
    if (answer.ok) return said
    const error = new Error(said.message ?? said.Message ?? `status ${answer.status}`)
    error.name = (said['__type'] ?? 'Error').replace(/^.*#/, '')
    throw error
  }
}

type Bytes = string | ArrayBuffer | ArrayBufferView

/** Node's SHA-256 as the signer asks for it. */
class Sha256 {
  readonly #secret: Bytes | undefined
  #hash: Hash | Hmac

  constructor(secret?: Bytes) {
    this.#secret = secret
    this.#hash = this.#start()
  }

  update(data: Uint8Array): void {
    this.#hash.update(data)
  }

  async digest(): Promise<Uint8Array> {
    return this.#hash.digest()
  }

  reset(): void {
    this.#hash = this.#start()
  }

  #start(): Hash | Hmac {
    return this.#secret === undefined ? createHash('sha256') : createHmac('sha256', bytesOf(this.#secret))
  }
}

function bytesOf(secret: Bytes): string | Uint8Array {
  if (typeof secret === 'string') return secret
  return ArrayBuffer.isView(secret) ? new Uint8Array(secret.buffer, secret.byteOffset, secret.byteLength) : new Uint8Array(secret)
}
