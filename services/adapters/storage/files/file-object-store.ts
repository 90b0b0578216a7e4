import type { ByteStream } from '../../../model/byte-stream.ts'
import type { ObjectStore } from '../../../ports/object-store.ts'
import { attachment } from '../objects/content-disposition.ts'
import { exactLength } from '../objects/exact-length.ts'
import { headerType } from '../objects/header-type.ts'
import { linkLifetime } from '../objects/link-lifetime.ts'
import type { ObjectFolder } from './object-folder.ts'
import { OBJECTS_PATH, signLink, type LinkClaims } from './signed-link.ts'

/** Pieces of this size take half the processor time of pieces of 256 KiB, which counts when a container of 100 MB wakes. */
const READ_BYTES = 1024 * 1024

/** Objects in a folder, with presigned links that the object handler serves under the API's port. */
export function createFileObjectStore(options: {
  readonly folder: ObjectFolder
  readonly secret: Uint8Array
  readonly now?: () => number
}): ObjectStore {
  const { folder, secret, now = Date.now } = options
  const linkTo = (publicUrl: string, claims: LinkClaims): string => `${publicUrl}${OBJECTS_PATH}/${signLink(claims, secret)}`
  const expiryOf = (seconds: number): number => now() + linkLifetime(seconds) * 1000

  return {
    async put(key, body, { contentType, bytes }) {
      const stream: ByteStream = body instanceof Uint8Array ? wholeBody(body) : bytes === undefined ? body : exactLength(body, bytes)
      const stored = await folder.put(key, stream, { contentType: headerType(contentType) })
      return { bytes: stored.bytes }
    },

    async get(key) {
      const object = await folder.open(key)
      if (object === null) return null
      await object.file.close()
      return { body: contentOf(folder, key, object.bytes), bytes: object.bytes }
    },

    async head(key) {
      const object = await folder.open(key)
      await object?.file.close()
      return object === null ? null : { bytes: object.bytes }
    },

    delete: (key) => folder.delete(key),
    deletePrefix: (prefix, isOver) => folder.deletePrefix(prefix, isOver),
    sizeOf: async (prefix) => (await folder.list(prefix)).reduce((sum, { bytes }) => sum + bytes, 0),

    async presignGet(key, { publicUrl, filename, contentType, expiresSeconds }) {
      const expiresAt = expiryOf(expiresSeconds)
      return linkTo(publicUrl, {
        method: 'GET',
        key,
        contentType: headerType(contentType),
        disposition: attachment(filename),
        expiresAt,
      })
    },

    async presignPut(key, { publicUrl, bytes, contentType: wanted, expiresSeconds }) {
      const contentType = headerType(wanted)
      const url = linkTo(publicUrl, { method: 'PUT', key, contentType, bytes, expiresAt: expiryOf(expiresSeconds) })
      return { url, headers: { 'content-type': contentType, 'content-length': String(bytes), 'if-none-match': '*' } }
    },

    check: () => folder.check(),
  }
}

/** Opens the file when its first byte is read, so that a body that is never read holds no descriptor. */
async function* contentOf(folder: ObjectFolder, key: string, bytes: number): AsyncGenerator<Uint8Array> {
  if (bytes === 0) return
  const object = await folder.open(key)
  if (object === null) throw new Error('The object was deleted before its content was read.')
  try {
    yield* object.file.createReadStream({ start: 0, end: bytes - 1, highWaterMark: READ_BYTES, autoClose: false })
  } finally {
    await object.file.close()
  }
}

async function* wholeBody(body: Uint8Array): AsyncGenerator<Uint8Array> {
  yield body
}
