import { SignatureV4 } from '@smithy/signature-v4'
import { createHash, createHmac, type Hash, type Hmac } from 'node:crypto'

export interface SignedServiceOptions {
  readonly region: string
  readonly credentials: ConstructorParameters<typeof SignatureV4>[0]['credentials']
  /** Default: the endpoint of the Region. */
  readonly endpoint?: string | undefined
}

const TIMEOUT_MS = 30_000

/** Sends signed requests to a service whose SDK client would bring a second copy of the SDK's parts for two calls: a POST with a body, a GET without one. */
export function signedService(
  service: string,
  { region, credentials, endpoint }: SignedServiceOptions,
): (body: string | null, headers?: Readonly<Record<string, string>>, path?: string) => Promise<Response> {
  const base = new URL(endpoint ?? `https://${service}.${region}.amazonaws.com`)
  const signer = new SignatureV4({ service, region, credentials, sha256: Sha256 })
  return async (body, wanted = {}, path = '/') => {
    const method = body === null ? 'GET' : 'POST'
    const { headers } = await signer.sign({
      method,
      protocol: base.protocol,
      hostname: base.hostname,
      path,
      headers: { host: base.host, ...wanted },
      ...(body === null ? {} : { body }),
    })
    return fetch(new URL(path, base), { method, headers, body, signal: AbortSignal.timeout(TIMEOUT_MS) })
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
