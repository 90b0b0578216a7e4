import { open, type FileHandle } from 'node:fs/promises'

/** The metadata of an object. */
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
export interface NewObject {
  readonly body: AsyncIterable<Uint8Array>
  readonly metadata: ObjectMetadata
  readonly maxBytes: number
  /** Returns once the file's content is on disk. */
  readonly isDurable: boolean
}

export class ObjectTooLargeError extends Error {}

const MAGIC = Buffer.from('CBO1')
/** Length of the metadata (4 bytes) and MAGIC. */
const TAIL_BYTES = 8
/** Keys have at most 1,024 bytes, so the metadata fits in one read. */
const MAX_FOOTER = 16 * 1024
const WRITE_BYTES = 1024 * 1024

/**
 * Writes an object as one file: its bytes, then its metadata as JSON. One rename publishes both, so a crash cannot leave bytes without a key
 * or a key without bytes. Returns the number of the object's bytes.
 */
export async function writeObjectFile(path: string, { body, metadata, maxBytes, isDurable }: NewObject): Promise<number> {
  const file = await open(path, 'wx', 0o600)
  try {
    const bytes = await writeChunks(file, body, maxBytes)
    const json = Buffer.from(JSON.stringify(metadata))
    const tail = Buffer.alloc(TAIL_BYTES)
    tail.writeUInt32BE(json.length)
    MAGIC.copy(tail, 4)
    await writeAll(file, [json, tail])
    if (isDurable) await file.datasync()
    return bytes
  } finally {
    await file.close()
  }
}

/** Appends the chunks; small ones are collected first. */
async function writeChunks(file: FileHandle, body: AsyncIterable<Uint8Array>, maxBytes: number): Promise<number> {
  let total = 0
  let waiting: Uint8Array[] = []
  let waitingBytes = 0
  for await (const chunk of body) {
    total += chunk.byteLength
    if (total > maxBytes) throw new ObjectTooLargeError(`The object is larger than ${maxBytes} bytes.`)
    waiting.push(chunk)
    waitingBytes += chunk.byteLength
    if (waitingBytes < WRITE_BYTES) continue
    await writeAll(file, waiting)
    waiting = []
    waitingBytes = 0
  }
  await writeAll(file, waiting)
  return total
}

async function writeAll(file: FileHandle, chunks: readonly Uint8Array[]): Promise<void> {
  const bytes = chunks.reduce((sum, chunk) => sum + chunk.byteLength, 0)
  if (bytes === 0) return
  const { bytesWritten } = await file.writev(chunks as Uint8Array[])
  if (bytesWritten !== bytes) throw new Error('No space left on device: the disk took only a part of an object.')
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
