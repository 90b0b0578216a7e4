import OpenAI from 'openai'
import { describe, expect, it } from 'vitest'
import { call, runPython, say } from '../../support/scripted-upstream.ts'
import { codeTools, wireFixture } from '../../support/scripted-turns.ts'

const fixture = wireFixture()
const { inOrder, ask } = fixture

const tools = codeTools

interface Notebook {
  readonly nbformat: number
  readonly cells: readonly {
    readonly id: string
    readonly cell_type: string
    readonly source: string
    readonly outputs?: readonly unknown[]
  }[]
}

describe('the notebook of a conversation', () => {
  const cells = [
    { cell_type: 'markdown', source: '**User:** Go' },
    { cell_type: 'code', source: 'x = 1', outputs: [{ output_type: 'stream', text: 'ran x = 1\n' }] },
    { cell_type: 'markdown', source: 'Set.' },
    { cell_type: 'markdown', source: '**User:** More' },
    { cell_type: 'code', source: 'print(x)', execution_count: 1 },
    { cell_type: 'markdown', source: 'It is 1.' },
  ]

  it('contains the messages and the executed cells of a conversation or of a chain of responses', async () => {
    for (const history of ['conversation', 'chain']) {
      const conversation = history === 'conversation' ? (await fixture.client.conversations.create()).id : null
      inOrder(runPython('x = 1'), say('Set.'))
      const first = await ask({ tools, conversation })
      inOrder(runPython('print(x)'), say('It is 1.'))
      const second = await ask({ tools, input: 'More', conversation, previous_response_id: conversation === null ? first.id : null })
      const paths = [
        `/responses/${second.id}/notebook.ipynb`,
        ...(conversation === null ? [] : [`/conversations/${conversation}/notebook.ipynb`]),
      ]
      for (const path of paths) {
        const notebook: Notebook = await fixture.client.get(path)
        expect(notebook.nbformat).toBe(4)
        expect(notebook.cells).toMatchObject(cells)
        expect(new Set(notebook.cells.map((cell) => cell.id)).size).toBe(cells.length)
      }
    }
  })

  it('contains calls that could not run and is not visible to other tenants', async () => {
    inOrder(call({ name: 'python', arguments: '{"code": 6' }), say('Sorry.'))
    const { id } = await ask({ tools })
    const notebook: Notebook = await fixture.client.get(`/responses/${id}/notebook.ipynb`)
    expect(notebook.cells.map((cell) => cell.cell_type)).toEqual(['markdown', 'code', 'markdown'])
    const otherTenant = fixture.worked.api.openai(fixture.worked.api.otherTenant)
    await expect(otherTenant.get(`/responses/${id}/notebook.ipynb`)).rejects.toThrow(OpenAI.NotFoundError)
    await expect(otherTenant.get('/conversations/conv_0/notebook.ipynb')).rejects.toThrow(OpenAI.NotFoundError)
  })
})
