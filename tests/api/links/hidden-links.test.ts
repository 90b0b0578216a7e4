import { afterAll, beforeAll, expect, it } from 'vitest'
import type { TestKey } from '../../support/start-api.ts'
import { hideLinks } from '../../../services/http/hide-links.ts'
import { runPython, say } from '../../support/scripted-upstream.ts'
import { codeTools } from '../../support/scripted-turns.ts'
import { startWorkedApi, type WorkedApi } from '../../support/start-worked-api.ts'

const LINK = /\/d\/(?!-{43})[\w-]{43}/
let worked: WorkedApi
beforeAll(async () => {
  worked = await startWorkedApi()
})
afterAll(() => worked.stop())

it('an answer has links to files for keys with the scope `files` only', async () => {
  const { api, upstream } = worked
  upstream.play((_, turn) => (turn === 0 ? runPython('save()') : say('[the table](sandbox:/mnt/data/table.csv)')))
  worked.runs(() => ({ files: { 'table.csv': 'a,b' } }))
  const conversation = await api.openai().conversations.create()
  const made = await api.openai().responses.create({ model: 'scripted', input: 'Go', tools: codeTools, conversation: conversation.id })
  expect(made.output_text).toMatch(LINK)
  const reader: TestKey = await api.newKey({ tenant: api.owner.tenant, scopes: ['read'] })
  const paths = [
    `/v1/responses/${made.id}`,
    `/v1/responses/${made.id}?stream=true`,
    `/v1/conversations/${conversation.id}/items`,
    `/v1/conversations/${conversation.id}/notebook.ipynb`,
  ]
  for (const path of paths) {
    const full = await (await api.fetch(path)).text()
    const answer = await api.fetch(path, { key: reader })
    expect(answer.status, path).toBe(200)
    const text = await answer.text()
    expect(text, path).not.toMatch(LINK)
    expect(text.length, path).toBe(full.length)
    expect(full, path).toMatch(LINK)
  }
})

it('hides a link that arrives in pieces, and nothing else', async () => {
  const text = `{"a":"ä/d/short","b":"http://x/d/${'t'.repeat(43)}/","c":"/d"}/`
  const bytes = Buffer.from(text)
  for (let cut = 0; cut <= bytes.length; cut++) {
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        for (const piece of [bytes.subarray(0, cut), bytes.subarray(cut)]) if (piece.length > 0) controller.enqueue(piece)
        controller.close()
      },
    })
    const hidden = hideLinks(new Response(body, { headers: { 'content-type': 'application/json' } }))
    expect(await hidden.text()).toBe(text.replace('t'.repeat(43), '-'.repeat(43)))
  }
})
