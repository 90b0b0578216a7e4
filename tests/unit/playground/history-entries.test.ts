import { describe, expect, it } from 'vitest'
import type { WireItem } from '../../../packages/playground/api/types.ts'
import { ATTACHED, entriesOf, responseIdOf, ulidOf } from '../../../packages/playground/state/history-entries.ts'

const ULID = '01kajv9h2s8p0ww3d4dq4cs1zt'
const said = (role: string, ...content: readonly object[]): WireItem =>
  ({ type: 'message', id: `msg_${ULID}_0`, role, content }) as unknown as WireItem

describe('items of a conversation', () => {
  it('belong to the response that the id of their message names', () => {
    expect(responseIdOf(`msg_${ULID}_0`)).toBe(`resp_${ULID}`)
    expect(responseIdOf(`item_${ULID}`)).toBeNull()
    expect(ulidOf(`resp_${ULID}`)).toBe(ULID)
    expect(ulidOf('item-3')).toBe('')
  })

  it('show the files of a message apart from its text', () => {
    const text = { type: 'input_text', text: 'Look' }
    const names = { type: 'input_text', text: `${ATTACHED}a.csv, b.png` }
    const picture = { type: 'input_image', image_url: 'data:image/png;base64,AA' }
    expect(entriesOf([said('user', text, names, picture)])).toMatchObject([
      {
        kind: 'user',
        text: 'Look',
        attachments: [
          { name: 'a.csv', picture: null },
          { name: 'b.png', picture: picture.image_url },
        ],
      },
    ])
    // A message that only looks like it stays a message.
    expect(entriesOf([said('user', { ...text, text: `${ATTACHED}x` })])).toMatchObject([{ text: `${ATTACHED}x`, attachments: [] }])
  })

  it('show a cell, a refused question and a line of the page as such', () => {
    const cell = { type: 'code_interpreter_call', id: 'item_1', code: '1/0', status: 'completed', outputs: null }
    const outcome = { execution_id: 'exec_1', status: 'queued', reason: null, source: 'user', language: 'bash' }
    const refused = { type: 'x_cellblock_refused', id: 'item_2', text: 'Why?', error: 'Because.' }
    const list = [{ ...cell, x_cellblock: outcome }, refused, said('developer', { type: 'input_text', text: 'Gone.' })]
    expect(entriesOf(list as readonly WireItem[])).toMatchObject([
      { kind: 'cell', run: { code: '1/0', status: 'unknown', language: 'bash', executionId: 'exec_1' } },
      { kind: 'user', text: 'Why?' },
      { kind: 'answer', status: 'failed', error: 'Because.' },
      { kind: 'notice', text: 'Gone.' },
    ])
  })
})
