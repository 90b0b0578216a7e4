import OpenAI from 'openai'
import { describe, expect, it } from 'vitest'
import { call, runPython, say } from '../../support/scripted-upstream.ts'
import { codeTools, wireScene } from '../../support/scripted-turns.ts'

const scene = wireScene()
const { inOrder, ask } = scene

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

  it('has what was said and the cells that ran, of a conversation and of a chain of responses', async () => {
    for (const history of ['conversation', 'chain']) {
      const conversation = history === 'conversation' ? (await scene.client.conversations.create()).id : null
      inOrder(runPython('x = 1'), say('Set.'))
      const first = await ask({ tools, conversation })
      inOrder(runPython('print(x)'), say('It is 1.'))
      const second = await ask({ tools, input: 'More', conversation, previous_response_id: conversation === null ? first.id : null })
      const paths = [
        `/responses/${second.id}/notebook.ipynb`,
        ...(conversation === null ? [] : [`/conversations/${conversation}/notebook.ipynb`]),
      ]
      for (const path of paths) {
        const notebook: Notebook = await scene.client.get(path)
        expect(notebook.nbformat).toBe(4)
        expect(notebook.cells).toMatchObject(cells)
        expect(new Set(notebook.cells.map((cell) => cell.id)).size).toBe(cells.length)
      }
    }
  })

  it('has the call that could not run, too, and is nobody else’s', async () => {
    inOrder(call({ name: 'python', arguments: '{"code": 6' }), say('Sorry.'))
    const { id } = await ask({ tools })
    const notebook: Notebook = await scene.client.get(`/responses/${id}/notebook.ipynb`)
    expect(notebook.cells.map((cell) => cell.cell_type)).toEqual(['markdown', 'code', 'markdown'])
    const stranger = scene.worked.api.openai(scene.worked.api.stranger)
    await expect(stranger.get(`/responses/${id}/notebook.ipynb`)).rejects.toThrow(OpenAI.NotFoundError)
    await expect(stranger.get('/conversations/conv_0/notebook.ipynb')).rejects.toThrow(OpenAI.NotFoundError)
  })
})
