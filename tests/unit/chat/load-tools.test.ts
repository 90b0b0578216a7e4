import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { toolConfigFromEnv } from '../../../services/adapters/tools/config.ts'
import { createTools, typesOf } from '../../../services/adapters/tools/create-tools.ts'

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'cellblock-tools-'))
})
afterEach(() => rm(folder, { recursive: true, force: true }))

/** The fields of a valid tool file with some replaced. */
const file = (change: Readonly<Record<string, string>> = {}): string => {
  const fields = {
    type: "'stock'",
    name: "'look_up_stock'",
    description: "'Looks a price up.'",
    parameters: "{ type: 'object', properties: { symbol: { type: 'string' } } }",
    execute: "async ({ symbol }) => ({ kind: 'text', text: symbol, isError: false })",
    ...change,
  }
  const lines = Object.entries(fields).flatMap(([name, code]) => (code === '' ? [] : [`  ${name}: ${code},`]))
  return `export const tool = {\n${lines.join('\n')}\n}\n`
}
const put = (name: string, text: string): Promise<void> => writeFile(join(folder, name), text)
const load = () => createTools(toolConfigFromEnv({ CELLBLOCK_TOOLS: folder }))

describe('a folder of tools', () => {
  it('loads one tool per file, with default limits', async () => {
    await put('stock.mjs', file())
    await put('b.ts', file({ type: "'b'", name: "'b'", limits: '{ timeoutMs: 5 } as const' }))
    await put('b.test.ts', 'throw new Error("a test is no tool")')
    await put('README.md', 'nor is this')
    const tools = await load()
    expect(tools.map(({ type, name, limits }) => [type, name, limits])).toEqual([
      ['b', 'b', { timeoutMs: 5, maxResultChars: 10_000 }],
      ['stock', 'look_up_stock', { timeoutMs: 30_000, maxResultChars: 10_000 }],
    ])
    const context = { tenant: 't', subject: null, responseId: 'r', callId: 'c', options: {}, signal: new AbortController().signal }
    expect(await tools[1]?.execute({ symbol: 'XYZ' }, context)).toMatchObject({ text: 'XYZ' })
  })

  it('lets an operator replace the web search', async () => {
    await put('search.mjs', file({ type: "'web_search'", name: "'web_search'", aliases: "['web_search_preview']" }))
    expect(typesOf(await load())).toEqual([['web_search', 'web_search_preview']])
    const both = { CELLBLOCK_TOOLS: folder, BRAVE_SEARCH_API_KEY: 'k' }
    await expect(createTools(toolConfigFromEnv(both))).rejects.toThrow('Two tools have the name web_search')
  })

  it.each<[string, string, string]>([
    ['no tool', 'export const other = 1', 'has no export named "tool"'],
    ['a fault in its code', 'export const tool = (', 'cannot be loaded'],
    ['an error at its start', 'throw new Error("no key")', 'cannot be loaded: no key'],
    ['a type that is no word', file({ type: "'Stock!'" }), 'type has to be 1 to 64 lower-case letters'],
    ['the type of functions', file({ type: "'function'" }), 'type may not be "function"'],
    ['no name', file({ name: '' }), 'name'],
    ['no description', file({ description: "''" }), 'description has to tell the model'],
    ['arguments that are no object', file({ parameters: "{ type: 'string' }" }), 'parameters.type has to be "object"'],
    [
      'a schema that no validator accepts',
      file({ parameters: "{ type: 'object', properties: { a: { $ref: '#/nowhere' } } }" }),
      'no JSON schema',
    ],
    ['nothing to execute', file({ execute: '1' }), 'execute has to be a function'],
    ['no time', file({ limits: '{ timeoutMs: 0 }' }), 'limits.timeoutMs'],
    ['the name of another', file({ name: "'python'" }), 'Two tools have the name python'],
    ['the type of another', file({ type: "'code_interpreter'" }), 'Two tools have the type code_interpreter'],
    ['half of a web search', file({ type: "'web_search'" }), 'has to have the name "web_search" too'],
  ])('refuses a file with %s, by name', async (_, text, sentence) => {
    await put('bad.mjs', text)
    await expect(load()).rejects.toThrow(sentence)
  })

  it('that does not exist is an error', async () => {
    await expect(createTools(toolConfigFromEnv({ CELLBLOCK_TOOLS: join(folder, 'none') }))).rejects.toThrow(
      'Make it, or name another in CELLBLOCK_TOOLS',
    )
  })
})

it('reads the search key and address from the environment', () => {
  expect(toolConfigFromEnv({})).toEqual({ brave: null, folder: null })
  expect(toolConfigFromEnv({ BRAVE_SEARCH_API_KEY: ' k ', BRAVE_SEARCH_URL: 'http://x.example/v1/' }).brave).toEqual({
    apiKey: 'k',
    baseUrl: 'http://x.example/v1',
  })
  expect(() => toolConfigFromEnv({ BRAVE_SEARCH_URL: 'nowhere' })).toThrow('BRAVE_SEARCH_URL is not a URL')
})
