import { afterAll, beforeAll, expect, it } from 'vitest'
import { RUN_ANSWER_BYTES } from '../../../services/operations/executions/result-budget.ts'
import { finishExecution } from '../../support/finish-execution.ts'
import { startApi, type TestApi, type TestKey } from '../../support/start-api.ts'
import { within } from '../../support/within.ts'

let api: TestApi
beforeAll(async () => {
  // The share of a tenant has space for the answer of one run.
  api = await startApi({ config: { maxResultBytesInFlight: 4 * 1.5 * RUN_ANSWER_BYTES } })
})
afterAll(() => api.stop())

const mcpCall = (key: TestKey): Promise<Response> =>
  api.post(
    '/mcp',
    { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'execute_code', arguments: { code: 'x' } } },
    { key, headers: { accept: 'application/json, text/event-stream' } },
  )

const WIRES: readonly (readonly [string, (key: TestKey) => Promise<Response>])[] = [
  ['LibreChat', (key) => api.post('/librechat/v1/exec', { lang: 'py', code: 'x' }, { key })],
  [
    "LibreChat's programs",
    (key) => api.post('/librechat/v1/exec/programmatic', { code: 'x', tools: [{ name: 't', parameters: {} }] }, { key }),
  ],
  ['MCP', mcpCall],
  ['the plugin', (key) => api.post('/execute', { code: 'x' }, { key })],
]

const running = async ({ tenant }: TestKey): Promise<readonly string[]> =>
  (await api.table.due(Number.MAX_SAFE_INTEGER, 1_000))
    .filter((due) => due.kind === 'execution' && due.tenant === tenant)
    .map(({ id }) => id)

it.each(WIRES)(
  '%s is refused before the code runs when the answer has no space, and answers what has run',
  async (_, run) => {
    const key = await api.newKey()
    const other = await api.newKey()
    const first = run(key)
    await expect.poll(() => running(key)).toHaveLength(1)
    const containers = async (): Promise<number> => (await api.openai(key).containers.list()).data.length
    const before = await containers()
    const refused = await within(20_000, 'The refusal', run(key))
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '1'])
    expect([await containers(), (await running(key)).length]).toEqual([before, 1])

    const theirs = run(other)
    await expect.poll(() => running(other)).toHaveLength(1)
    // The result is larger than the space that was reserved for the answer.
    for (const owner of [key, other])
      for (const id of await running(owner))
        await finishExecution(api, owner.tenant, id, { result: { stdout: 'x'.repeat(1.2 * RUN_ANSWER_BYTES) } })
    expect([(await first).status, (await theirs).status]).toEqual([200, 200])
  },
  60_000,
)
