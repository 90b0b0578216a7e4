import { afterAll, beforeAll, expect, it } from 'vitest'
import { readPrograms } from '../programs/parse-programs.ts'
import { runPrograms } from '../programs/run-programs.ts'
import { startServer, type LocalServerProcess } from '../support/local-server.ts'

/** A sample of `npm run test:programs` that the smallest image can run. */
const SAMPLE: readonly string[] = [
  'head() of a wide table shows every column',
  'a DataFrame as the last expression is a table',
  'writes and reads Excel with openpyxl formatting',
  'figure saved and shown',
  'plotly express figure',
  'a figure with texts and no axes',
  'box plots of pandas and seaborn',
  '%matplotlib widget degrades to inline',
  'a module beside the notebook is imported',
  'asyncio.run in a cell',
  'processes',
  'pip install of an absent package says what is possible',
  'a misspelled module names a similar one',
  'unittest.main with exit',
]

let server: LocalServerProcess
beforeAll(async () => {
  server = await startServer({ env: { SANDBOX_PRELOAD: '', CELLBLOCK_POOL: '2' } })
})
afterAll(() => server.stop())

it('runs realistic programs as their users expect', async () => {
  const programs = (await readPrograms()).filter(({ title }) => SAMPLE.includes(title))
  expect(programs).toHaveLength(SAMPLE.length)
  const results = await runPrograms(server, programs, { width: 2 })
  expect(results.filter(({ wrong }) => wrong.length > 0).map(({ program, wrong }) => [program.title, wrong])).toEqual([])
}, 300_000)
