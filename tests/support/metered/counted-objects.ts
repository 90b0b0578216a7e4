import type { ObjectStore } from '../../../services/ports/object-store.ts'

/** Objects in memory, whose puts and gets are counted. */
export function countedObjects(counts: { puts: number; gets: number }): ObjectStore {
  const stored = new Map<string, Uint8Array>()
  return {
    async put(key, body) {
      counts.puts += 1
      const pieces: Uint8Array[] = []
      if (body instanceof Uint8Array) pieces.push(body)
      else for await (const piece of body) pieces.push(piece)
      const bytes = Buffer.concat(pieces)
      stored.set(key, bytes)
      return { bytes: bytes.byteLength }
    },
    async get(key) {
      counts.gets += 1
      const found = stored.get(key)
      if (found === undefined) return null
      return {
        bytes: found.byteLength,
        body: (async function* () {
          yield found
        })(),
      }
    },
    async head(key) {
      const found = stored.get(key)
      return found === undefined ? null : { bytes: found.byteLength }
    },
    delete: async (key) => void stored.delete(key),
    deletePrefix: async () => 0,
    sizeOf: async () => 0,
    presignGet: async () => '',
    presignPut: async () => ({ url: '', headers: {} }),
    check: async () => undefined,
  }
}
