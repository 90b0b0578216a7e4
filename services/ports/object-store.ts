import type { ByteStream } from '../model/byte-stream.ts'

/** Blobs under `tenants/{tenant}/…` and `exports/{tenant}/…` with random keys. Display names are data and never part of a key. */
export interface ObjectStore {
  /**
   * Streams the body; memory use does not depend on its size. Returns the number of stored bytes. With `bytes`, the body is sent once without a
   * buffer for retries, and a body of another length is refused.
   */
  put(
    key: string,
    body: Uint8Array | ByteStream,
    options: { readonly contentType: string; readonly bytes?: number },
  ): Promise<{ readonly bytes: number }>
  /** Null when there is no such object. */
  get(key: string): Promise<{ readonly body: ByteStream; readonly bytes: number } | null>
  head(key: string): Promise<{ readonly bytes: number } | null>
  delete(key: string): Promise<void>
  /** Deletes the objects below a prefix; returns how many. Ends early when `isOver`, which is asked meanwhile. */
  deletePrefix(prefix: string, isOver?: () => boolean): Promise<number>
  /** Total size of all objects below a prefix, bytes. It lists them all. */
  sizeOf(prefix: string): Promise<number>
  /** A URL that is valid without an API key for `expiresSeconds` (at most 300), served as `attachment` with a fixed type. */
  presignGet(key: string, options: PresignGet): Promise<string>
  presignPut(key: string, options: PresignPut): Promise<{ readonly url: string; readonly headers: Readonly<Record<string, string>> }>
  check(): Promise<void>
}

export interface PresignGet {
  /** The base URL by which the client reached the API; local links start with it. */
  readonly publicUrl: string
  readonly filename: string
  readonly contentType: string
  readonly expiresSeconds: number
}

export interface PresignPut {
  readonly publicUrl: string
  readonly bytes: number
  readonly contentType: string
  readonly expiresSeconds: number
}
