import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { assemble } from '../../../services/workers/turn/conversation/assemble.ts'
import { buildEntries } from '../../../services/workers/turn/conversation/build-entries.ts'
import { inputEntries } from '../../../services/workers/turn/conversation/input-entries.ts'
import { fileRow, responseRow } from '../../support/rows.ts'
import type { ResponseItem } from '../../../services/model/responses/items/item-types.ts'
import type { Entry } from '../../../services/model/responses/items/entry.ts'

const message = (text: string, change: Partial<Extract<ResponseItem, { type: 'message' }>> = {}): ResponseItem => ({
  type: 'message',
  id: 'msg_1',
  status: 'completed',
  text,
  citations: [],
  phase: 'final_answer',
  isRefusal: false,
  ...change,
})

describe('inputEntries', () => {
  it('reads every kind of item that a client may send', () => {
    expect(
      inputEntries([
        { role: 'developer', content: 'Rules' },
        {
          type: 'message',
          role: 'user',
          content: [
            { type: 'input_text', text: 'Look' },
            { type: 'input_image', image_url: 'data:image/png;base64,AA' },
          ],
        },
        { type: 'reasoning', summary: [] },
        { type: 'item_reference', id: 'msg_9' },
        { type: 'code_interpreter_call', id: 'ci_1', code: 'print(1)', outputs: [{ type: 'logs', logs: '1' }] },
        { type: 'function_call', call_id: 'c1', name: 'f', arguments: '{}' },
        { type: 'function_call_output', call_id: 'c1', output: 'done' },
        { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Fine.' }] },
        { type: 'never_heard_of' },
      ]),
    ).toEqual([
      { kind: 'system', text: 'Rules' },
      {
        kind: 'user',
        content: [
          { type: 'text', text: 'Look' },
          { type: 'image', url: 'data:image/png;base64,AA' },
        ],
      },
      { kind: 'call', call: { id: 'ci_1', name: 'python', arguments: '{"code":"print(1)"}' } },
      { kind: 'result', callId: 'ci_1', text: '1' },
      { kind: 'call', call: { id: 'c1', name: 'f', arguments: '{}' } },
      { kind: 'result', callId: 'c1', text: 'done' },
      { kind: 'said', text: 'Fine.' },
    ])
  })

  it('includes a text file and names an unreadable one', () => {
    const text = `data:text/csv;base64,${Buffer.from('a,b').toString('base64')}`
    const [entry] = inputEntries([
      {
        role: 'user',
        content: [
          { type: 'input_file', filename: 'x.csv', file_data: text },
          { type: 'input_file', filename: 'y.bin', file_id: 'file-1' },
        ],
      },
    ])
    expect(entry).toMatchObject({ kind: 'user', content: expect.stringMatching(/^File "x\.csv":\na,b\n\[the file "y\.bin"/) })
  })

  it('names a file as code finds it, and as the client sent it', () => {
    const file = (filename: string, text: string) => ({
      type: 'input_file',
      filename,
      file_data: `data:text/csv;base64,${Buffer.from(text).toString('base64')}`,
    })
    const paths = new Map([
      ['data.csv', 'data-12345678.csv'],
      ['file-2.csv', 'file-2.csv'],
      ['file-9', 'plan.pdf'],
    ])
    const [entry] = inputEntries(
      [{ role: 'user', content: [file('data.csv', 'a'), file('con.csv', 'b'), { type: 'input_file', file_id: 'file-9' }] }],
      (key) => paths.get(key.split(':')[0] ?? '') ?? null,
    )
    expect(entry).toEqual({
      kind: 'user',
      content:
        'File "data-12345678.csv" (sent as "data.csv"):\na\nFile "file-2.csv" (sent as "con.csv"):\nb\n[the file "plan.pdf" was attached here; code finds it in /mnt/data]',
    })
  })

  it.each([Buffer.from([0, 1, 2, 3]), Buffer.from('a\u0000b'), Buffer.from('x\u001b[31m')])('names what is no text: %j', (bytes) => {
    const part = { type: 'input_file', filename: 'x.txt', file_data: `data:text/plain;base64,${bytes.toString('base64')}` }
    expect(inputEntries([{ role: 'user', content: [part] }])).toMatchObject([
      { content: expect.stringContaining('code finds it in /mnt/data') },
    ])
  })

  it('gives the model no control characters of outputs', () => {
    const printed = '\u001b[31mred\u001b[0m \u001b]0;title\u0007bell\u0007 \u001b[2K\u001b]never ended\tand\ntext\u0000'
    const request = responseRow().request
    const input = [
      { type: 'function_call', call_id: 'c1', name: 'f', arguments: '{}' },
      { type: 'function_call_output', call_id: 'c1', output: printed },
    ]
    const entries = buildEntries({ request: { ...request, input }, items: [], history: [], files: [] })
    expect(entries.find(({ kind }) => kind === 'result')).toMatchObject({ text: 'red bell never ended\tand\ntext' })
  })

  it('throws for no sequence of items', () => {
    fc.assert(
      fc.property(
        fc.array(fc.dictionary(fc.constantFrom('type', 'role', 'content', 'output', 'outputs', 'call_id'), fc.jsonValue())),
        (items) => void inputEntries(items),
      ),
    )
  })
})

describe('assemble', () => {
  it('places exactly one result directly after each call', () => {
    const call = (id: string): Entry => ({ kind: 'call', call: { id, name: 'f', arguments: '{}' } })
    expect(
      assemble([
        { kind: 'user', content: 'Go' },
        { kind: 'said', text: 'Well' },
        call('a'),
        call('b'),
        { kind: 'result', callId: 'b', text: 'B' },
        { kind: 'result', callId: 'orphan', text: '?' },
        { kind: 'user', content: 'And?' },
      ]),
    ).toMatchObject([
      { role: 'user' },
      { role: 'assistant', content: 'Well', toolCalls: [{ id: 'a' }, { id: 'b' }] },
      { role: 'tool', toolCallId: 'a', content: '(no result was given)' },
      { role: 'tool', toolCallId: 'b', content: 'B' },
      { role: 'user', content: 'And?' },
    ])
  })
})

describe('buildEntries', () => {
  const { request } = responseRow()
  const url = 'https://x.test/d/abc'

  it('converts links of earlier answers to paths and omits incomplete items', () => {
    const earlier = {
      request: { ...request, instructions: 'old rules', input: 'Plot' },
      status: 'completed' as const,
      items: [
        message('half', { status: 'incomplete', phase: null }),
        message(`See ${url}.`, {
          citations: [{ containerId: 'c', fileId: 'cfile_1', filename: 'p.png', startIndex: 4, endIndex: 4 + url.length }],
        }),
      ],
    }
    expect(
      buildEntries({
        request: { ...request, input: 'More' },
        items: [],
        history: [earlier],
        files: [fileRow({ id: 'cfile_1', path: 'out/p.png' })],
      }),
    ).toEqual([
      { kind: 'user', content: 'Plot' },
      { kind: 'said', text: 'See sandbox:/mnt/data/out/p.png.' },
      { kind: 'user', content: 'More' },
    ])
  })

  it('starts with one system message: tool, files, instructions, the caller’s own', () => {
    const wanted = {
      ...request,
      instructions: 'Be brief.',
      interpreter: { containerId: null, memoryTier: '1g' as const, fileIds: [] },
      input: [
        { role: 'system', content: 'Also this.' },
        { role: 'user', content: 'Hi' },
      ],
    }
    const entries = buildEntries({ request: wanted, items: [], history: [], files: [fileRow({ path: 'a "b".csv', bytes: 7 })] })
    expect(entries.map((entry) => entry.kind)).toEqual(['system', 'user'])
    const text = entries[0]?.kind === 'system' ? entries[0].text : ''
    for (const part of ['/mnt/data', '"a \\"b\\".csv" (7 bytes, uploaded by the user)', 'Be brief.', 'Also this.'])
      expect(text).toContain(part)
  })
})
