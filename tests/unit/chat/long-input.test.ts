import { describe, expect, it } from 'vitest'
import { fencedPython } from '../../../services/model/responses/fenced-code.ts'
import { assemble } from '../../../services/workers/turn/conversation/assemble.ts'
import { fitWindow } from '../../../services/workers/turn/conversation/fit-window.ts'
import { inputEntries } from '../../../services/workers/turn/conversation/input-entries.ts'
import { estimateTokens } from '../../../services/workers/turn/conversation/tokens.ts'
import type { Entry } from '../../../services/model/responses/items/entry.ts'

const METER = { bytesPerToken: 4, tokensPerImage: 1_000 }

/** As many as fit a request body. Quadratic work would exceed the test's time limit. */
const MANY = 300_000

describe('input as long as a request body', () => {
  it('drops turns, oldest first, until the rest fits', () => {
    const turns = Array.from({ length: MANY }, (_, index): Entry => ({ kind: 'user', content: String(index) }))
    const [remark, ...kept] = fitWindow(turns, 5_000, METER).entries
    expect(remark).toMatchObject({ kind: 'system', text: expect.stringContaining('earlier turns of this conversation left out') })
    expect(kept.at(-1)).toEqual({ kind: 'user', content: String(MANY - 1) })
    expect(estimateTokens(kept, METER)).toBeLessThanOrEqual(5_000)
    expect(estimateTokens(turns.slice(-kept.length - 10), METER)).toBeGreaterThan(5_000)
  })

  it('truncates the results of one turn, one per call', () => {
    const entries = Array.from({ length: MANY }, (_, index): Entry[] => [
      { kind: 'call', call: { id: 'same', name: 'f', arguments: '{}' } },
      { kind: 'result', callId: 'same', text: `result ${index}` },
    ]).flat()
    const messages = assemble(fitWindow([{ kind: 'user', content: 'Go' }, ...entries], 5_000, METER).entries)
    expect(messages.at(-1)).toEqual({ role: 'tool', toolCallId: 'same', content: `result ${MANY - 1}` })
  })

  it('treats unclosed fences as text', () => {
    expect(fencedPython('```py\n'.repeat(MANY))).toEqual([])
    expect(fencedPython(`${'~~~py\n'.repeat(MANY)}~~~\n`)).toHaveLength(1)
  })

  it('names the file of a data URL without data', () => {
    const part = { type: 'input_file', filename: 'x', file_data: `data:text/${'a;'.repeat(MANY)}` }
    expect(inputEntries([{ role: 'user', content: [part] }])).toMatchObject([{ content: expect.stringContaining('cannot be read') }])
  })
})
