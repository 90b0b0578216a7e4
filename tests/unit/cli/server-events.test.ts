import fc from 'fast-check'
import { expect, test } from 'vitest'
import { readServerEvents, type ServerEvent } from '../../../packages/cli/src/server-events.ts'

const TEXT =
  ': keep-alive\n\nid: 0\nevent: status\ndata: {"status":"queued"}\n\nid: 1\nevent: stdout\ndata: {"text":"a: b — ü\\n"}\n\n: keep-alive\n\nid: 2\nevent: done\ndata: {}\n\n'

async function read(chunks: readonly Uint8Array[]): Promise<ServerEvent[]> {
  const found: ServerEvent[] = []
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      for (const chunk of chunks) controller.enqueue(chunk)
      controller.close()
    },
  })
  for await (const event of readServerEvents(body)) found.push(event)
  return found
}

test('returns whole events for every split of the bytes', async () => {
  const bytes = new TextEncoder().encode(TEXT)
  await fc.assert(
    fc.asyncProperty(fc.uniqueArray(fc.integer({ min: 1, max: bytes.length - 1 })), async (cuts) => {
      const ends = [...cuts.toSorted((a, b) => a - b), bytes.length]
      expect(await read(ends.map((end, index) => bytes.subarray(ends[index - 1] ?? 0, end)))).toEqual([
        { id: 0, event: 'status', data: { status: 'queued' } },
        { id: 1, event: 'stdout', data: { text: 'a: b — ü\n' } },
        { id: 2, event: 'done', data: {} },
      ])
    }),
  )
})

test('omits an incomplete last event', async () => {
  expect(await read([new TextEncoder().encode('id: 0\nevent: status\ndata: {"sta')])).toEqual([])
})
