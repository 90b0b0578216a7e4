import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { runCommand, type CommandResult } from '../../scripts/setup/command.ts'
import { startServer, type LocalServerProcess } from '../support/local-server.ts'

const MAIN = join(import.meta.dirname, '../../examples/quickstart/main.ts')
const PNG = '89504e470d0a1a0a'

interface Notebook {
  readonly nbformat: number
  readonly cells: readonly {
    readonly cell_type: string
    readonly execution_count: number | null
    readonly outputs: readonly { readonly data?: object }[]
  }[]
}

let server: LocalServerProcess
let out: string
let result: CommandResult

beforeAll(async () => {
  server = await startServer({ env: { SANDBOX_PRELOAD: '' } })
  out = await mkdtemp(join(tmpdir(), 'cellblock-quickstart-'))
  const env = { ...process.env, CELLBLOCK_URL: server.url, CELLBLOCK_API_KEY: server.apiKey, CELLBLOCK_MODEL: 'demo', QUICKSTART_OUT: out }
  result = await runCommand(process.execPath, ['--disable-warning=ExperimentalWarning', MAIN], { env })
})
afterAll(async () => {
  await server.stop()
  await rm(out, { recursive: true, force: true })
})

it('answers with what the code found in the data', () => {
  expect(result).toMatchObject({ code: 0, stdout: expect.stringContaining('Best month: 2024-01 with 10,255 euros of 80,164') })
})

it('returns a link to the plot that works without a key', async () => {
  const link = /http:\/\/\S+\/d\/[\w-]+/.exec(result.stdout)?.[0] ?? 'no link was printed'
  expect(Buffer.from(await (await fetch(link)).arrayBuffer()).toString('hex', 0, 8)).toBe(PNG)
})

it('saves the plot and the executed notebook', async () => {
  expect((await readdir(out)).toSorted()).toEqual(['notebook.ipynb', 'revenue.png'])
  expect((await readFile(join(out, 'revenue.png'))).toString('hex', 0, 8)).toBe(PNG)
  const notebook = JSON.parse(await readFile(join(out, 'notebook.ipynb'), 'utf8')) as Notebook
  const [cell] = notebook.cells
  expect(notebook.nbformat).toBe(4)
  expect(cell).toMatchObject({ cell_type: 'code', execution_count: 1 })
  expect(cell?.outputs.some((output) => output.data !== undefined && 'image/png' in output.data)).toBe(true)
})
