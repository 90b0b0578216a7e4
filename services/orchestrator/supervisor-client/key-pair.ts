import { generateKeyPairSync } from 'node:crypto'

/** A key pair for one sandbox: the row keeps the private half (PKCS#8 DER, base64url), the sandbox gets the public one (raw 32 bytes, base64url). */
export function newSandboxKeyPair(): { readonly privateKey: string; readonly publicKey: string } {
  const pair = generateKeyPairSync('ed25519')
  const { x } = pair.publicKey.export({ format: 'jwk' })
  if (x === undefined) throw new Error('An Ed25519 public key without its coordinate.')
  return { privateKey: pair.privateKey.export({ format: 'der', type: 'pkcs8' }).toString('base64url'), publicKey: x }
}
