import { open, type FileHandle } from 'node:fs/promises'
import { S3Error } from './s3-error.ts'

/** What is kept of an object besides its bytes. */
export interface ObjectMetadata {
  readonly key: string
  readonly contentType: string
  readonly etag: string
  /** Epoch ms. */
  readonly modifiedAt: number
}
export interface OpenObject {
  readonly metadata: ObjectMetadata
  readonly bytes: number
  /** The caller closes it. */
  readonly file: FileHandle
}

const MAGIC = Buffer.from('CBO1')
/** Length of the metadata (4 bytes) and MAGIC. */
const TAIL_BYTES = 8
/** Keys have at most 1,024 bytes, so the metadata fits in one read. */
const MAX_FOOTER = 16 * 1024
const WRITE_BYTES = 1024 * 1024

/**
 * Writes an object as one file: its bytes, then its metadata as JSON. One rename makes both appear at once, so a crash can never leave
 * bytes without a name or a name without bytes. Returns the number of the object's own bytes.
 */
export async function writeObjectFile(
  path: string,
  body: AsyncIterable<Uint8Array>,
  metadata: ObjectMetadata,
  maxBytes: number,
): Promise<number> {
  const file = await open(path, 'wx', 0o600)
  try {
    const bytes = await writeChunks(file, body, maxBytes)
    const json = Buffer.from(JSON.stringify(metadata))
    const tail = Buffer.alloc(TAIL_BYTES)
    tail.writeUInt32BE(json.length)
    MAGIC.copy(tail, 4)
    await file.write(Buffer.concat([json, tail]))
    return bytes
  } finally {
    await file.close()
  }
}

/** Writes to the file from where it is; small chunks are put together first. */
export async function writeChunks(file: FileHandle, body: AsyncIterable<Uint8Array>, maxBytes: number): Promise<number> {
  let total = 0
  let waiting: Uint8Array[] = []
  let waitingBytes = 0
  const flush = async (): Promise<void> => {
    const { bytesWritten } = waitingBytes === 0 ? { bytesWritten: 0 } : await file.writev(waiting)
    if (bytesWritten !== waitingBytes) throw new Error('No space left on device: the disk took only a part of an object.')
    waiting = []
    waitingBytes = 0
  }
  for await (const chunk of body) {
    total += chunk.byteLength
    if (total > maxBytes) throw new S3Error('EntityTooLarge', `The body is larger than ${maxBytes} bytes.`)
    waiting.push(chunk)
    waitingBytes += chunk.byteLength
    if (waitingBytes >= WRITE_BYTES) await flush()
  }
  await flush()
  return total
}

/** Null when there is no such file. */
export async function openObjectFile(path: string): Promise<OpenObject | null> {
  const file = await open(path, 'r').catch(ignoreMissing)
  if (file === null) return null
  try {
    const { size } = await file.stat()
    const footer = Buffer.alloc(Math.min(size, MAX_FOOTER))
    await file.read(footer, 0, footer.length, size - footer.length)
    const end = footer.length - TAIL_BYTES
    if (end < 0 || !footer.subarray(end + 4).equals(MAGIC)) throw new Error(`The object file ${path} is damaged.`)
    const jsonBytes = footer.readUInt32BE(end)
    const metadata = JSON.parse(footer.toString('utf8', end - jsonBytes, end)) as ObjectMetadata
    return { metadata, bytes: size - jsonBytes - TAIL_BYTES, file }
  } catch (error) {
    await file.close()
    throw error
  }
}

export function ignoreMissing(error: unknown): null {
  if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
  throw error
}
