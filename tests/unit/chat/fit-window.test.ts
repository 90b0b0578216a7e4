import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { assemble } from '../../../services/workers/turn/conversation/assemble.ts'
import { fitWindow } from '../../../services/workers/turn/conversation/fit-window.ts'
import { estimateTokens, textTokens } from '../../../services/workers/turn/conversation/tokens.ts'
import type { ModelMessage } from '../../../services/ports/chat-model.ts'
import type { Entry } from '../../../services/model/responses/items/entry.ts'

const METER = { bytesPerToken: 4, tokensPerImage: 1_000 }
const fit = (entries: readonly Entry[], budget: number) => fitWindow(entries, budget, METER)

const call = (id: string, code = 'x'): Entry => ({ kind: 'call', call: { id, name: 'python', arguments: JSON.stringify({ code }) } })
const turns = Array.from({ length: 6 }, (_, i): Entry[] => [
  { kind: 'user', content: `question ${i}` },
  call(`c${i}`),
  { kind: 'result', callId: `c${i}`, text: 'r'.repeat(4_000) },
  { kind: 'said', text: `answer ${i}` },
]).flat()
const all: Entry[] = [{ kind: 'system', text: 'Rules' }, ...turns, { kind: 'user', content: 'last question' }]

/** The token cost of the sent messages. */
const tokensOfMessages = (messages: readonly ModelMessage[]): number =>
  messages.reduce((sum, message) => {
    const parts = typeof message.content === 'string' ? [{ type: 'text' as const, text: message.content }] : message.content
    const calls = message.role === 'assistant' ? message.toolCalls : []
    return (
      sum +
      parts.reduce((own, part) => own + (part.type === 'text' ? textTokens(part.text, METER) : METER.tokensPerImage), 0) +
      calls.reduce((own, one) => own + textTokens(one.name + one.arguments, METER), 0)
    )
  }, 0)

describe('fitWindow', () => {
  it('changes nothing when everything fits', () => {
    expect(fit(all, 100_000)).toEqual({ entries: all, cut: { trimmedResults: 0, droppedTurns: 0, droppedCalls: 0, shortenedTexts: 0 } })
  })

  it('first truncates results, oldest first', () => {
    const { entries, cut } = fit(all, 5_000)
    expect(entries).toHaveLength(all.length)
    const lengths = entries.flatMap((entry) => (entry.kind === 'result' ? [entry.text.length] : []))
    expect(lengths[0]).toBeLessThan(600)
    expect(lengths.at(-1)).toBe(4_000)
    expect(cut).toMatchObject({ trimmedResults: lengths.filter((length) => length < 4_000).length, droppedTurns: 0 })
  })

  it('then drops whole turns, oldest first, keeps the instructions and the last question, and reports what is missing', () => {
    const { entries, cut } = fit(all, 1_700)
    expect(entries[0]).toMatchObject({
      kind: 'system',
      text: expect.stringMatching(/^Rules\n\n\[\d earlier turns? of this conversation left out/),
    })
    expect(entries.at(-1)).toEqual(all.at(-1))
    expect(entries[1]?.kind).toBe('user')
    expect(cut.droppedTurns).toBeGreaterThan(0)
    expect(estimateTokens(entries, METER)).toBeLessThanOrEqual(1_700)
  })

  it('then drops the oldest calls of the current turn and keeps the latest with its result', () => {
    // Some endpoints give every call the same id.
    const long = Array.from({ length: 8 }, (_, i): Entry[] => [
      call('same', `step ${i} ${'y'.repeat(2_000)}`),
      { kind: 'result', callId: 'same', text: `result ${i}` },
    ]).flat()
    const { entries, cut } = fit([{ kind: 'user', content: 'continue' }, ...long], 1_500)
    const sent = assemble(entries)
    expect(cut.droppedCalls).toBeGreaterThan(0)
    expect(JSON.stringify(sent)).toContain('step 7')
    expect(sent.at(-1)).toMatchObject({ role: 'tool', content: 'result 7' })
    expect(sent.filter((message) => message.role === 'tool').map((message) => message.content)).not.toContain('(no result was given)')
  })

  it('truncates a question longer than the window to head and tail', () => {
    const { entries, cut } = fit([{ kind: 'user', content: `begin ${'z'.repeat(100_000)} end` }], 1_000)
    const [user] = entries
    expect(user?.kind === 'user' && user.content).toMatch(/^begin z+\n… \d+ characters left out …\nz+ end$/)
    expect(cut.shortenedTexts).toBe(1)
    expect(estimateTokens(entries, METER)).toBeLessThanOrEqual(1_000)
    expect(estimateTokens(entries, METER)).toBeGreaterThan(900)
  })

  it('omits images before text', () => {
    const pictures = Array.from({ length: 5 }, () => ({ type: 'image' as const, url: 'data:image/png;base64,AA' }))
    const { entries } = fit([{ kind: 'user', content: [...pictures, { type: 'text', text: 'What is this?' }] }], 2_000)
    const [user] = entries
    expect(user?.kind === 'user' && user.content).toContain('What is this?')
    expect(user?.kind === 'user' && user.content).toContain('a picture was left out')
  })
})

describe('for every conversation', () => {
  const text = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 40 }),
    fc.tuple(fc.constantFrom('a', 'é', '漢', '😀', '\n'), fc.nat(6_000)).map(([unit, n]) => unit.repeat(n)),
  )
  const id = fc.constantFrom('a', 'b', 'c')
  const entry: fc.Arbitrary<Entry> = fc.oneof(
    { weight: 1, arbitrary: text.map((value): Entry => ({ kind: 'system', text: value })) },
    { weight: 3, arbitrary: text.map((value): Entry => ({ kind: 'user', content: value })) },
    {
      weight: 1,
      arbitrary: text.map((value): Entry => ({
        kind: 'user',
        content: [
          { type: 'image', url: 'data:,' },
          { type: 'text', text: value },
        ],
      })),
    },
    { weight: 2, arbitrary: text.map((value): Entry => ({ kind: 'said', text: value })) },
    { weight: 4, arbitrary: fc.tuple(id, text).map(([callId, value]) => call(callId, value)) },
    {
      weight: 1,
      arbitrary: fc.tuple(id, text).map(([callId, value]): Entry => ({ kind: 'call', call: { id: callId, name: 'f', arguments: value } })),
    },
    { weight: 4, arbitrary: fc.tuple(id, text).map(([callId, value]): Entry => ({ kind: 'result', callId, text: value })) },
  )
  const conversation = fc.array(entry, { maxLength: 40 })
  const budget = fc.integer({ min: 256, max: 8_000 })

  it('the request fits the window and contains the last user message', () => {
    fc.assert(
      fc.property(conversation, budget, (entries, limit) => {
        const { entries: fitted } = fit(entries, limit)
        expect(estimateTokens(fitted, METER)).toBeLessThanOrEqual(limit)
        expect(tokensOfMessages(assemble(fitted))).toBeLessThanOrEqual(limit)
        const last = entries.findLast((one) => one.kind === 'user')
        if (last === undefined) return
        const kept = fitted.findLast((one) => one.kind === 'user')
        expect(kept).toBeDefined()
        const words = (one: Entry | undefined): string =>
          one?.kind !== 'user'
            ? ''
            : typeof one.content === 'string'
              ? one.content
              : one.content.map((part) => (part.type === 'text' ? part.text : '')).join('')
        // In full, as its head, or only as a marker when nothing more fits.
        expect(
          words(kept) === '…' ||
            words(kept).includes(
              words(last)
                .slice(0, 8)
                .replace(/[\ud800-\udbff]$/, ''),
            ),
        ).toBe(true)
      }),
      { numRuns: 300 },
    )
  })

  it('keeps the words of a message before the note about its picture', () => {
    const content: Entry = {
      kind: 'user',
      content: [
        { type: 'image', url: 'data:,' },
        { type: 'text', text: 'Compare the two lines. '.repeat(40) },
      ],
    }
    const long = Array.from({ length: 6 }, (): Entry => ({ kind: 'result', callId: 'a', text: '漢'.repeat(2_000) }))
    expect(fit([content, ...long], 256).entries.find((one) => one.kind === 'user')).toMatchObject({
      content: expect.stringMatching(/^(\u2026|Compare)/) as unknown,
    })
  })

  it('every tool message follows its call, and every call has one', () => {
    fc.assert(
      fc.property(conversation, budget, (entries, limit) => {
        const sent = assemble(fit(entries, limit).entries)
        const open: string[] = []
        for (const message of sent) {
          if (message.role === 'tool') expect(open.shift()).toBe(message.toolCallId)
          else expect(open).toEqual([])
          if (message.role === 'assistant') open.push(...message.toolCalls.map((one) => one.id))
        }
        expect(open).toEqual([])
      }),
      { numRuns: 300 },
    )
  })

  it('JSON arguments stay valid JSON', () => {
    fc.assert(
      fc.property(conversation, budget, (entries, limit) => {
        for (const one of fit(entries, limit).entries)
          if (one.kind === 'call' && one.call.name === 'python') expect(JSON.parse(one.call.arguments)).toBeTypeOf('object')
      }),
      { numRuns: 100 },
    )
  })

  it('nothing is truncated when everything fits', () => {
    fc.assert(
      fc.property(conversation, (entries) => {
        expect(fit(entries, estimateTokens(entries, METER)).entries).toEqual(entries)
      }),
      { numRuns: 50 },
    )
  })
})
