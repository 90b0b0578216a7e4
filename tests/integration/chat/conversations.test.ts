import { withStores } from '../../support/with-stores.ts'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createTurnStep } from '../../../services/workers/turn/turn-step.ts'
import type { TurnMessage } from '../../../services/model/messages.ts'
import type { Queue } from '../../../services/ports/queue.ts'
import type { ConversationItem } from '../../../services/model/conversations/conversation.ts'
import type { Conversation } from '../../../services/model/conversations/conversation.ts'
import { conversationRow, responseRequest } from '../../support/rows.ts'
import { runPython, say } from '../../support/scripted-upstream.ts'
import { INTERPRETER, startTurnBench, type TurnBench } from '../../support/turn-bench.ts'
import { acceptResponse, newResponse } from '../../../services/operations/turns/accept-response.ts'
import type { ResponseRecord, ResponseRequest } from '../../../services/model/responses/response.ts'

let bench: TurnBench
let conversation: Conversation
beforeAll(async () => {
  bench = await startTurnBench()
})
afterAll(() => bench.stop())
beforeEach(async () => {
  conversation = conversationRow({ tenant: bench.tenant })
  await bench.storage.table.conversations.create(conversation)
})

async function accept(request: Partial<ResponseRequest>): Promise<ResponseRecord> {
  const plain = newResponse(
    {
      tenant: bench.tenant,
      subject: null,
      request: { ...PLAIN, ...request },
      previousResponseId: null,
      conversationId: conversation.id,
      publicUrl: 'http://localhost:8787',
    },
    Date.now(),
  )
  await acceptResponse(bench.storage, plain)
  return plain
}
const PLAIN = responseRequest({ model: 'scripted', input: 'Hello', stream: true })
const items = async (): Promise<readonly ConversationItem[]> =>
  (await bench.storage.table.conversations.items(bench.tenant, conversation.id, { after: null, limit: 100, order: 'asc' })).rows
const kinds = async () =>
  (await items()).map(({ content }) => (content.kind === 'wire' ? content.item['type'] : `out:${content.item.type}`))
const queue = async () => (await bench.storage.table.conversations.get(bench.tenant, conversation.id))?.queue

describe('a turn in a conversation', () => {
  it('reads the earlier items and adds its own', async () => {
    bench.upstream.play((_, turn) => (turn === 0 ? runPython('print(42)') : say('It is 42.')))
    await bench.finish((await accept({ ...INTERPRETER, input: 'What is it?' })).id, () => ({ result: { stdout: '42\n' } }))
    expect(await kinds()).toEqual(['message', 'out:code_interpreter_call', 'out:message'])
    expect(await queue()).toEqual([])

    bench.upstream.play(() => say('Still 42.'))
    await bench.finish((await accept({ input: [{ role: 'user', content: 'And now?' }] })).id)
    expect(bench.upstream.requests[0]?.body.messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'assistant', 'user'])
    expect(JSON.stringify(bench.upstream.requests[0]?.body.messages)).toContain('42')
    expect(await kinds()).toHaveLength(5)
  })

  it('runs its code in the container of the previous turn', async () => {
    bench.upstream.play((_, turn) => (turn === 0 ? runPython('x = 1') : say('ok')))
    const first = await bench.finish((await accept(INTERPRETER)).id)
    bench.upstream.play((_, turn) => (turn === 0 ? runPython('x') : say('ok')))
    const second = await bench.finish((await accept(INTERPRETER)).id)
    expect(second.containerId).toBe(first.containerId)
  })

  it('waits until the previous turn has ended, even if its worker crashed', async () => {
    bench.upstream.play(() => say('Hello.'))
    const [first, second, third] = [await accept({ input: 'one' }), await accept({ input: 'two' }), await accept({ input: 'three' })]
    await bench.step(second.id)
    expect((await bench.row(second.id)).status).toBe('in_progress')
    expect(bench.upstream.requests).toHaveLength(0)
    await bench.storage.table.responses.remove(bench.tenant, first.id)
    await bench.step(third.id)
    expect((await bench.row(third.id)).status).toBe('in_progress')
    expect((await bench.finish(second.id)).status).toBe('completed')
    expect((await bench.finish(third.id)).status).toBe('completed')
    expect((await items()).map(({ responseId }) => responseId)).toEqual([second.id, second.id, third.id, third.id])
  })

  it('keeps one pending message while it waits, however many messages arrive', async () => {
    bench.upstream.play(() => say('Hello.'))
    const [first, second] = [await accept({ input: 'one' }), await accept({ input: 'two' })]
    let waiting: TurnMessage[] = []
    const queue: Queue = { ...bench.deps.queue, send: async (_queue, message) => void waiting.push(message as TurnMessage) }
    for (let attempt = 0; attempt < 5; attempt++) await bench.step(second.id, { queue })
    for (let round = 0; round < 4; round++) {
      const arrived = [...waiting, ...waiting]
      waiting = []
      for (const message of arrived) await createTurnStep({ ...bench.deps, queue })(message)
      expect(waiting).toHaveLength(1)
    }
    await bench.finish(first.id)
    for (const message of waiting.splice(0)) await createTurnStep({ ...bench.deps, queue })(message)
    expect(await bench.row(second.id)).toMatchObject({ status: 'completed' })
  })

  it('ends at once and adds no item when it is cancelled while it waits', async () => {
    bench.upstream.play(() => say('Hello.'))
    const [first, second] = [await accept({ input: 'one' }), await accept({ input: 'two' })]
    await bench.storage.table.responses.requestCancel(bench.tenant, second.id, Date.now())
    expect((await bench.finish(second.id)).status).toBe('cancelled')
    await bench.finish(first.id)
    expect((await items()).map(({ responseId }) => responseId)).toEqual([first.id, first.id])
  })

  it('is listed as unfinished when it failed, and only then', async () => {
    bench.upstream.play(() => say('Hello.'))
    await bench.finish((await accept({ input: 'one' })).id)
    const failed = await accept({ input: 'two', model: 'unknown' })
    expect((await bench.finish(failed.id)).status).toBe('failed')
    const row = await bench.storage.table.conversations.get(bench.tenant, conversation.id)
    expect(row).toMatchObject({ unfinished: [failed.id], queue: [], activeAt: failed.createdAt })
    expect(await kinds()).toHaveLength(2)
  })

  it('adds nothing to a conversation that was deleted during the turn', async () => {
    bench.upstream.play(() => say('Hello.'))
    const { id } = await accept({ input: 'one' })
    await bench.storage.table.conversations.markDeleted(bench.tenant, conversation.id, { now: Date.now(), dueAt: Date.now() + 1_000_000 })
    expect((await bench.finish(id)).status).toBe('completed')
    expect(await items()).toEqual([])
  })

  it('adds its items once although the step that adds them is repeated', async () => {
    bench.upstream.play(() => say('Hello.'))
    const { id } = await accept({ input: 'one' })
    const { responses } = bench.storage.table
    let hasFailed = false
    const failing = withStores(bench.storage.table, {
      responses: {
        ...responses,
        commit: async (...args: Parameters<typeof responses.commit>) => {
          if (args[1].status === 'completed' && !hasFailed) {
            hasFailed = true
            throw new Error('The table failed')
          }
          return responses.commit(...args)
        },
      },
    })
    await bench.step(id, { table: failing })
    expect(hasFailed).toBe(true)
    expect(await kinds()).toEqual(['message', 'out:message'])
    await bench.finish(id)
    expect((await bench.row(id)).status).toBe('completed')
    expect(new Set((await items()).map((item) => item.id)).size).toBe((await items()).length)
    expect((await kinds())[0]).toBe('message')
  })

  it('reads a conversation across several pages up to the context window', async () => {
    await bench.storage.table.conversations.putItems(
      Array.from({ length: 250 }, (_, index): ConversationItem => ({
        v: 1,
        tenant: bench.tenant,
        conversationId: conversation.id,
        id: `msg_${index}`,
        position: `${String(index).padStart(15, '0')}#x#000000`,
        responseId: null,
        content: { kind: 'wire', item: { type: 'message', role: 'user', content: `number ${index}` } },
      })),
    )
    bench.upstream.play(() => say('Hello.'))
    await bench.finish((await accept({ input: 'last' })).id)
    const sentMessages = JSON.stringify(bench.upstream.requests[0]?.body.messages)
    expect(sentMessages).toContain('number 0')
    expect(sentMessages.indexOf('number 0')).toBeLessThan(sentMessages.indexOf('number 249'))
  })
})
