import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ResponseIncludable } from 'openai/resources/responses/responses'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { runCommand } from '../../scripts/setup/command.ts'
import { startServer, type LocalServerProcess } from '../support/local-server.ts'

const MAIN = join(import.meta.dirname, '../../examples/rich-results/main.ts')

let server: LocalServerProcess
let out: string
beforeAll(async () => {
  server = await startServer()
  out = await mkdtemp(join(tmpdir(), 'cellblock-rich-'))
})
afterAll(async () => {
  await server.stop()
  await rm(out, { recursive: true, force: true })
})

it('returns a table as rows, a chart as series and a conversation as its executed notebook', async () => {
  const env = {
    ...process.env,
    CELLBLOCK_URL: server.url,
    CELLBLOCK_API_KEY: server.apiKey,
    CELLBLOCK_MODEL: 'demo',
    RICH_RESULTS_OUT: out,
  }
  const { code, stdout } = await runCommand(process.execPath, ['--disable-warning=ExperimentalWarning', MAIN], { env })
  expect(code).toBe(0)
  expect(stdout).toContain('table      index: integer, n: integer, square: integer, cube: integer')
  expect(stdout).toContain('{"index":4,"n":5,"square":25,"cube":125}')
  expect(stdout).toContain('chart      Powers: line square, line cube')
  expect(stdout).toContain('with markdown, code, markdown')
  const notebook = JSON.parse(await readFile(join(out, 'conversation.ipynb'), 'utf8')) as {
    readonly nbformat: number
    readonly cells: readonly { readonly outputs?: readonly { readonly data?: object }[] }[]
  }
  expect(notebook.nbformat).toBe(4)
  const shown = notebook.cells[1]?.outputs?.flatMap((output) => Object.keys(output.data ?? {})) ?? []
  expect(shown).toEqual(expect.arrayContaining(['text/html', 'image/png', 'application/vnd.dataresource+json']))
})

it('streams what the code prints while it runs', async () => {
  // The helper of the official client ends a stream at an unknown event.
  const stream = server.openai.responses.stream({
    model: 'demo',
    input: '```python\nimport time\nfor i in range(3):\n    print("step", i, flush=True)\n    time.sleep(0.7)\n```',
    tools: [{ type: 'code_interpreter', container: { type: 'auto' } }],
    include: ['x_cellblock.events' as ResponseIncludable],
  })
  const seen: {
    readonly type: string
    readonly sequence_number: number
    readonly x_cellblock?: { readonly type: string; readonly text: string }
  }[] = []
  for await (const event of stream) seen.push(event)
  expect(seen.map((event) => event.sequence_number)).toEqual(seen.map((_, i) => i))
  const printed = seen.filter((event) => event.x_cellblock?.type === 'code_interpreter_call_output')
  expect(printed.length).toBeGreaterThan(1)
  expect(printed.map((event) => event.x_cellblock?.text).join('')).toBe('step 0\nstep 1\nstep 2\n')
})
