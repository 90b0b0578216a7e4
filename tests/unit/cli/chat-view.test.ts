import { expect, it } from 'vitest'
import { ChatView } from '../../../packages/cli/src/chat-view.ts'

type Fields = Readonly<Record<string, unknown>>
const text = (delta: string, id = 'msg_1'): Fields => ({ type: 'response.output_text.delta', item_id: id, delta })
const code = (delta: string): Fields => ({ type: 'response.code_interpreter_call_code.delta', item_id: 'ci_1', delta })
const printed = (line: string): Fields => ({
  type: 'keepalive',
  x_cellblock: { type: 'code_interpreter_call_output', item_id: 'ci_1', stream: 'stdout', text: line },
})
const done = (logs: string): Fields => ({ type: 'response.output_item.done', item: { id: 'ci_1', outputs: [{ type: 'logs', logs }] } })

function shown(events: readonly Fields[], isTerminal: boolean): { readonly out: string; readonly note: string; readonly screen: string } {
  const seen = { out: '', note: '', screen: '' }
  const write = (stream: 'out' | 'note') => (piece: string) => {
    seen[stream] += piece
    seen.screen += piece
  }
  const view = new ChatView({ out: write('out'), note: write('note'), isTerminal })
  for (const event of events) view.show(event)
  view.end()
  return seen
}

const TURN = [text('I load the file.'), code('import pandas\nprint(1)'), printed('1\n'), done('1'), text('# Result', 'msg_2')]

it('begins code, output and each message on a new line of a terminal', () => {
  expect(shown(TURN, true).screen).toBe('I load the file.\n│ import pandas\n│ print(1)\n1\n\n# Result\n')
})

it('separates the messages in a file, which has no code', () => {
  expect(shown(TURN, false).out).toBe('I load the file.\n\n# Result\n')
})

it.each([
  ['a result behind what was printed', 'a\n', 'a\n42', 'a\n42\n'],
  ['a table that was displayed before', 'a\n', 'table\na', 'a\ntable\n'],
  ['an error', '', 'ZeroDivisionError', 'ZeroDivisionError\n'],
  ['the last state of a progress bar only', '10 %\r100 %\n', '100 %\ndone', '10 %\r100 %\ndone\n'],
  ['nothing twice of a long output', `${'x'.repeat(40_000)}\n`, `${'x'.repeat(31_000)} …`, `${'x'.repeat(40_000)}\n`],
])('shows %s once', (_, live, logs, note) => {
  expect(shown([...(live === '' ? [] : [printed(live)]), done(logs)], false).note).toBe(note)
})
