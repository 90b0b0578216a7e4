// The blocks of docs/clients.md, run as a reader would run them: address, key and model are replaced, and nothing else.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import * as z from 'zod'
import { runCommand } from '../../scripts/setup/command.ts'

const PAGE = join(import.meta.dirname, '../../docs/clients.md')
const BLOCK = /^(### .+)$|^```(js|python|json|sh) run\n([\s\S]*?)^```$/gm
const RUN_SECONDS = 180

export interface DocSnippet {
  /** The heading above the block. */
  readonly client: string
  readonly language: 'js' | 'python' | 'json'
  readonly code: string
}

export interface SnippetServer {
  readonly url: string
  readonly apiKey: string
  readonly model: string
  /** Python with the packages that the section imports. */
  readonly python: string
}

interface Block {
  readonly client: string
  readonly language: DocSnippet['language'] | 'sh'
  readonly code: string
}

/** Every block with the word `run`, in the order of the page. */
function blocks(): readonly Block[] {
  let client = ''
  return [...readFileSync(PAGE, 'utf8').matchAll(BLOCK)].flatMap(([, heading, language, code]) => {
    if (heading !== undefined) client = heading.slice(4)
    return language === undefined || code === undefined ? [] : [{ client, language: language as Block['language'], code }]
  })
}

/** The blocks that a program runs or reads. */
export const docSnippets = (): readonly DocSnippet[] =>
  blocks().flatMap(({ client, language, code }) => (language === 'sh' ? [] : [{ client, language, code }]))

/** The variables of each block of a server's settings. */
export const docSettings = (wanted: string, server: Pick<SnippetServer, 'url' | 'apiKey'>): readonly Readonly<Record<string, string>>[] =>
  blocks()
    .filter(({ client, language }) => client === wanted && language === 'sh')
    .map(({ code }) =>
      Object.fromEntries([...fill(code, server).matchAll(/^(\w+)='?(.*?)'?$/gm)].map(([, name = '', value = '']) => [name, value])),
    )

const fill = (code: string, { url, apiKey }: Pick<SnippetServer, 'url' | 'apiKey'>): string =>
  code.replaceAll('http://127.0.0.1:8787', url).replaceAll('ck_…', apiKey)

/** Null when the block printed 42, which code in a sandbox computed; otherwise why not. */
export async function runDocSnippet({ language, code }: DocSnippet, server: SnippetServer): Promise<string | null> {
  const filled = fill(code, server).replaceAll('my-model', server.model)
  if (language === 'json') return listToolsBy(filled)
  const [program, ...args] = language === 'js' ? [process.execPath, '--input-type=module', '-e', filled] : [server.python, '-c', filled]
  // The packages that the blocks import are in this folder.
  const ended = await runCommand(program ?? '', args, { cwd: import.meta.dirname, env: process.env, timeoutSeconds: RUN_SECONDS })
  return ended.code === 0 && ended.stdout.includes('42') ? null : `exit code ${ended.code}: ${ended.output.slice(-1_500)}`
}

const configSchema = z.record(
  z.string(),
  z.object({ cellblock: z.object({ type: z.literal('http'), url: z.string(), headers: z.record(z.string(), z.string()) }) }),
)

/** Connects as the configuration file says. */
async function listToolsBy(config: string): Promise<string | null> {
  for (const { cellblock } of Object.values(configSchema.parse(JSON.parse(config)))) {
    const client = new Client({ name: 'configured', version: '1' })
    await client.connect(new StreamableHTTPClientTransport(new URL(cellblock.url), { requestInit: { headers: cellblock.headers } }))
    const { structuredContent } = await client.callTool({ name: 'execute_code', arguments: { code: 'print(6 * 7)' } })
    await client.close()
    if (!JSON.stringify(structuredContent).includes('42')) return `answered ${JSON.stringify(structuredContent)}`
  }
  return null
}
