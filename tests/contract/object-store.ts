import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { createHash, randomBytes } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { newObjectKey, objectPrefix } from '../../services/model/object-keys.ts'
import type { ByteStream } from '../../services/model/byte-stream.ts'
import type { ObjectStore } from '../../services/ports/object-store.ts'

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void
/** The memory in use after a garbage collection. */
const heldBytes = (): number => {
  collectGarbage()
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}
const MiB = 1024 * 1024
/** Streamed in and out; a store that holds all of it exceeds the bound. */
const [STREAM_MIB, STREAM_HELD_MIB] = [250, 200]
const freshKey = (): string => newObjectKey('tnt_1', 'files', `cntr_${randomBytes(6).toString('hex')}`)
const TEXT = { contentType: 'text/plain' }

async function bytesOf(stream: ByteStream): Promise<Buffer> {
  const chunks: Uint8Array[] = []
  for await (const chunk of stream) chunks.push(chunk)
  return Buffer.concat(chunks)
}

async function* inChunks(bytes: Buffer, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
}

/** `count` chunks of one MiB, created on read, so that only a store that buffers them needs memory. */
async function* madeOf(count: number, hash: { update(chunk: Uint8Array): unknown }): AsyncGenerator<Uint8Array> {
  for (let index = 0; index < count; index++) {
    const chunk = Buffer.alloc(MiB, index)
    hash.update(chunk)
    yield chunk
  }
}

/** The contract of every ObjectStore. Links are tested separately. */
export function objectStoreContract(name: string, store: () => ObjectStore): void {
  describe(`ObjectStore: ${name}`, () => {
    it.each([0, 1, 1000, 3 * MiB])('returns %i bytes that were put as a buffer or a stream', async (size) => {
      const bytes = randomBytes(size)
      for (const body of [bytes, inChunks(bytes, 70_000)]) {
        const key = freshKey()
        expect(await store().put(key, body, TEXT)).toEqual({ bytes: size })
        const found = await store().get(key)
        expect(found?.bytes).toBe(size)
        expect(found === null ? null : (await bytesOf(found.body)).equals(bytes)).toBe(true)
        expect(await store().head(key)).toEqual({ bytes: size })
      }
    })

    it.each(['text/x\ny', 'text/\u20ac', '', 'x'.repeat(5_000)])('stores bytes with any content type', async (contentType) => {
      const key = freshKey()
      expect(await store().put(key, Buffer.from('x'), { contentType })).toEqual({ bytes: 1 })
      expect(await store().head(key)).toEqual({ bytes: 1 })
    })

    it.each([8 * MiB, 8 * MiB + 1, 19 * MiB])('stores a stream of %i bytes across several requests', async (size) => {
      const bytes = randomBytes(size)
      const key = freshKey()
      expect(await store().put(key, inChunks(bytes, 333_333), TEXT)).toEqual({ bytes: size })
      const found = await store().get(key)
      expect(found?.bytes).toBe(size)
      expect(found === null ? null : (await bytesOf(found.body)).equals(bytes)).toBe(true)
    })

    it.each([1000, 8 * MiB + 1, 19 * MiB])('stores a stream of %i bytes with a known length', async (size) => {
      const bytes = randomBytes(size)
      const key = freshKey()
      expect(await store().put(key, inChunks(bytes, 333_333), { ...TEXT, bytes: size })).toEqual({ bytes: size })
      const found = await store().get(key)
      expect(found === null ? null : (await bytesOf(found.body)).equals(bytes)).toBe(true)
    })

    it.each([9 * MiB, 11 * MiB])('stores nothing of a 10 MiB stream with a declared length of %i bytes', async (said) => {
      const key = freshKey()
      await expect(store().put(key, madeOf(10, createHash('md5')), { ...TEXT, bytes: said })).rejects.toThrow('promised')
      await expect.poll(() => store().head(key)).toBeNull()
    })

    it('returns null for a missing object and deletes it without an error', async () => {
      const key = freshKey()
      expect(await store().get(key)).toBeNull()
      expect(await store().head(key)).toBeNull()
      await expect(store().delete(key)).resolves.toBeUndefined()
      expect(await store().deletePrefix('tenants/absent/nothing/')).toBe(0)
    })

    it('replaces an object atomically', async () => {
      const key = freshKey()
      await store().put(key, Buffer.from('first and long'), TEXT)
      await store().put(key, Buffer.from('second'), TEXT)
      const found = await store().get(key)
      expect(found === null ? null : (await bytesOf(found.body)).toString()).toBe('second')
    })

    it('stores nothing of a stream that fails', async () => {
      for (const megabytes of [1, 12]) {
        const key = freshKey()
        async function* failing(): AsyncGenerator<Uint8Array> {
          yield* madeOf(megabytes, createHash('md5'))
          throw new Error('The sandbox is gone.')
        }
        for (const bytes of [undefined, (megabytes + 1) * MiB]) {
          const options = bytes === undefined ? TEXT : { ...TEXT, bytes }
          await expect(store().put(key, failing(), options)).rejects.toThrow('The sandbox is gone.')
          expect(await store().head(key)).toBeNull()
        }
      }
    })

    it('deletes everything below a prefix, and nothing else', async () => {
      const parent = `cntr_${randomBytes(6).toString('hex')}`
      const mine = Array.from({ length: 25 }, () => newObjectKey('tnt_1', 'files', parent))
      const others = [newObjectKey('tnt_1', 'files', `${parent}x`), newObjectKey('tnt_2', 'files', parent)]
      await Promise.all([...mine, ...others].map((key) => store().put(key, Buffer.from(key), TEXT)))
      const sizeOf = (keys: readonly string[]): number => keys.reduce((sum, key) => sum + key.length, 0)
      expect(await store().sizeOf(objectPrefix('tnt_1', parent))).toBe(sizeOf(mine))
      expect(await store().deletePrefix(objectPrefix('tnt_1', parent))).toBe(25)
      expect(await store().sizeOf(objectPrefix('tnt_1', parent))).toBe(0)
      expect(await Promise.all(mine.map((key) => store().head(key)))).toEqual(mine.map(() => null))
      expect(await Promise.all(others.map((key) => store().head(key)))).not.toContain(null)
      expect(await store().deletePrefix(objectPrefix('tnt_1', parent))).toBe(0)
    })

    it('deletes more objects than one reply lists', async () => {
      const parent = `cntr_${randomBytes(6).toString('hex')}`
      for (let group = 0; group < 11; group++) {
        await Promise.all(Array.from({ length: 100 }, () => store().put(newObjectKey('tnt_1', 'files', parent), Buffer.from('x'), TEXT)))
      }
      const first = await store().deletePrefix(objectPrefix('tnt_1', parent), () => true)
      expect([first > 0, first < 1100]).toEqual([true, true])
      expect(await store().deletePrefix(objectPrefix('tnt_1', parent))).toBe(1100 - first)
    })

    it.each([
      ['said', { bytes: STREAM_MIB * MiB }],
      ['not said', {}],
    ])('streams more than its memory bound in and out, length %s', async (_, length) => {
      const key = freshKey()
      const sent = createHash('sha256')
      const before = heldBytes()
      let peak = before
      const step = 25 * MiB
      /** A garbage collection of a large heap is slow, so it runs only a few times. */
      async function* watched(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
        let passed = 0
        for await (const chunk of bytes) {
          if (Math.floor(passed / step) < Math.floor((passed += chunk.length) / step)) peak = Math.max(peak, heldBytes())
          yield chunk
        }
      }
      try {
        expect(await store().put(key, watched(madeOf(STREAM_MIB, sent)), { ...TEXT, ...length })).toEqual({ bytes: STREAM_MIB * MiB })
        const received = createHash('sha256')
        const found = await store().get(key)
        if (found === null) throw new Error('The object is missing.')
        for await (const chunk of watched(found.body)) received.update(chunk)
        expect(received.digest('hex')).toBe(sent.digest('hex'))
      } finally {
        await store().delete(key)
      }
      expect(peak - before).toBeLessThan(STREAM_HELD_MIB * MiB)
    })

    it('signs no link for longer than five minutes', async () => {
      const wanted = { publicUrl: 'http://127.0.0.1:8787', filename: 'a', contentType: 'text/plain', expiresSeconds: 301 }
      await expect(store().presignGet(freshKey(), wanted)).rejects.toThrow('between 1 and 300 seconds')
      await expect(store().presignPut(freshKey(), { ...wanted, bytes: 1 })).rejects.toThrow('between 1 and 300 seconds')
    })

    it('passes its check', async () => {
      await expect(store().check()).resolves.toBeUndefined()
    })
  })
}
