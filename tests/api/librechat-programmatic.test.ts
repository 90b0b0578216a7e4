import { gunzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ImageCatalogue } from '../../services/model/containers/images.ts'
import { apiKeyRow, newApiKey } from '../../services/model/tenants/api-keys.ts'
import type { Execution } from '../../services/model/executions/execution.ts'
import { finishExecution } from '../support/finish-execution.ts'
import { startApi, type TestApi, type TestKey } from '../support/start-api.ts'

let api: TestApi
beforeAll(async () => {
  api = await startApi({ images: new ImageCatalogue({ slim: 'slim:1', standard: 'standard:1' }, 'slim') })
})
afterAll(() => api.stop())

const BASE = '/librechat/v1/exec'
type Json = Record<string, unknown>
const json = async (answer: Response): Promise<Json> => (await answer.json()) as Json

interface Payload {
  readonly marker: string
  readonly tools: unknown
  readonly results: Json
}

const seen = new Set<string>()

/** The next execution that a request started. */
async function nextRow(): Promise<Execution> {
  const find = async () =>
    (await api.table.containers.list(api.owner.tenant, { after: null, limit: 1_000, order: 'desc', name: null })).rows.flatMap(
      ({ commands = [] }) => commands.filter((id) => !seen.has(id)),
    )[0]
  await expect.poll(find).toBeDefined()
  const id = (await find()) ?? ''
  seen.add(id)
  return (await api.table.executions.get(api.owner.tenant, id))!
}

function payloadOf(row: Execution): Payload {
  const stdin = row.source.kind === 'command' ? (row.source.stdin ?? '') : ''
  return JSON.parse(gunzipSync(Buffer.from(stdin, 'base64')).toString()) as Payload
}

/** Sends a request and ends its run; `report` makes the calls that the program reports, or their JSON. */
async function run(body: Json, report: (payload: Payload) => unknown, stdout = ''): Promise<{ answer: Json; payload: Payload }> {
  const answered = api.post(`${BASE}/programmatic`, body)
  const row = await nextRow()
  const payload = payloadOf(row)
  const calls = report(payload)
  const stderr = calls === null ? '' : `a warning${payload.marker}${typeof calls === 'string' ? calls : JSON.stringify(calls)}`
  await finishExecution(api, api.owner.tenant, row.id, { result: { stdout, stderr, exit: { code: 0, signal: null } } })
  return { answer: await json(await answered), payload }
}

const CALL = { id: `call_${'0'.repeat(24)}_1`, name: 'get-weather', input: { city: 'Rome' } }
const DEEP_CALL = JSON.stringify([CALL]).replace('"Rome"', `${'['.repeat(90_000)}${']'.repeat(90_000)}`)
const PROGRAM = { code: 'await get_weather(city="Rome")', tools: [{ name: 'get-weather' }, { name: 'class' }] }

describe('a program that calls tools', () => {
  it('is run again with the results of its calls, once per token and by its tenant only', async () => {
    const first = await run(PROGRAM, () => [CALL], 'so far')
    expect(first.payload).toMatchObject({
      tools: [
        ['get_weather', 'get-weather'],
        ['class_tool', 'class'],
      ],
      results: {},
    })
    expect(first.answer).toMatchObject({
      status: 'tool_call_required',
      tool_calls: [CALL],
      partial_stdout: 'so far',
      partial_stderr: 'a warning',
    })
    const next = {
      continuation_token: first.answer['continuation_token'],
      tool_results: [
        { call_id: CALL.id, result: { degrees: 20 } },
        { call_id: 'call_of_nothing', result: 1 },
      ],
    }
    expect((await api.post(`${BASE}/programmatic`, next, { key: api.otherTenant })).status).toBe(404)
    const second = await run(next, () => null, 'done')
    expect(second.payload.results).toEqual({
      [CALL.id]: { result: { degrees: 20 }, is_error: false, error_message: 'The tool failed.' },
    })
    expect(second.answer).toMatchObject({ status: 'completed', stdout: 'done', stderr: '', files: [], tool_calls_made: 1 })
    expect(await json(await api.post(`${BASE}/programmatic`, next))).toMatchObject({ error: 'bad_request' })
  })

  it('is continued by one of several requests that come at the same time', async () => {
    const first = await run(PROGRAM, () => [CALL])
    const next = { continuation_token: first.answer['continuation_token'], tool_results: [{ call_id: CALL.id, result: 1 }] }
    const answers = Array.from({ length: 4 }, () => api.post(`${BASE}/programmatic`, next))
    await finishExecution(api, api.owner.tenant, (await nextRow()).id, { result: { stdout: 'done', exit: { code: 0, signal: null } } })
    const statuses = (await Promise.all(answers)).map(({ status }) => status)
    expect(statuses.toSorted((a, b) => a - b)).toEqual([200, 400, 400, 400])
  })

  it('cannot call a tool that the request did not offer, or report something else than calls', async () => {
    const foreign = await run(PROGRAM, () => [{ ...CALL, name: 'delete_everything' }])
    expect(foreign.answer).toMatchObject({ status: 'error', error: 'Sandbox requested an unregistered tool: delete_everything' })
    const nested = (depth: number): unknown => JSON.parse(`${'['.repeat(depth)}${']'.repeat(depth)}`)
    const reports: readonly (readonly [string, unknown])[] = [
      ['an id with a path', [{ ...CALL, id: '../../x' }]],
      ['a deep input', [{ ...CALL, input: { a: nested(100) } }]],
      ['a very deep input', DEEP_CALL],
      ['many wrong calls', Array(100_000).fill(0)],
      ['many arguments', [{ ...CALL, input: Object.fromEntries(Array.from({ length: 2_000 }, (_, index) => [index, 0])) }]],
    ]
    for (const [what, report] of reports) {
      const broken = await run(PROGRAM, () => report)
      expect(broken.answer, what).toMatchObject({ status: 'error', error: 'Execution failed or timed out', stderr: 'a warning' })
    }
  })

  it('needs distinct function names, and results in time', async () => {
    const same = await api.post(`${BASE}/programmatic`, { code: '1', tools: [{ name: 'a b' }, { name: 'a-b' }] })
    expect([same.status, await json(same)]).toMatchObject([400, { message: expect.stringContaining('"a-b"') }])
    const { answer } = await run(PROGRAM, () => [CALL])
    api.skew += 11 * 60_000
    const late = await api.post(`${BASE}/programmatic`, {
      continuation_token: answer['continuation_token'],
      tool_results: [{ call_id: CALL.id, result: 1 }],
    })
    expect(late.status).toBe(400)
    api.skew = 0
  })

  it('has at most 4 MB of code and results, and continues after a result that was too large', async () => {
    const { answer } = await run(PROGRAM, () => [CALL])
    const token = answer['continuation_token']
    const continueWith = (result: string) => ({ continuation_token: token, tool_results: [{ call_id: CALL.id, result }] }) as const
    const refused = await api.post(`${BASE}/programmatic`, continueWith('a'.repeat(9_900_000)))
    expect([refused.status, await json(refused)]).toMatchObject([
      413,
      { error: 'session_input_too_large', message: expect.stringContaining('4194304 bytes') },
    ])
    const second = { ...CALL, id: `call_${'1'.repeat(24)}_1` }
    const next = await run(continueWith('a'.repeat(3_000_000)), () => [second])
    const more = {
      continuation_token: next.answer['continuation_token'],
      tool_results: [{ call_id: second.id, result: 'b'.repeat(3_000_000) }],
    }
    expect((await api.post(`${BASE}/programmatic`, more)).status).toBe(413)
    expect((await api.post(`${BASE}/programmatic`, { ...PROGRAM, code: '#'.repeat(4_200_000) })).status).toBe(413)
    expect(
      Object.keys((await run({ ...more, tool_results: [{ call_id: second.id, result: 'b' }] }, () => null)).payload.results),
    ).toHaveLength(2)
  })

  it('is cancelled by the id of its request, before and after its start', async () => {
    const headers = { 'x-librechat-code-request-id': 'request-1' }
    const cancel = async (request_id: string) => json(await api.post(`${BASE}/programmatic/cancel`, { request_id }))
    const running = api.post(`${BASE}/programmatic`, PROGRAM, { headers })
    const { id } = await nextRow()
    expect(await cancel('request-1')).toEqual({ cancelled: true })
    expect(await json(await running)).toMatchObject({ status: 'error' })
    expect((await api.table.executions.get(api.owner.tenant, id))?.status).toBe('cancelled')
    expect(await cancel('request-2')).toEqual({ cancelled: false })
    const late = await api.post(`${BASE}/programmatic`, PROGRAM, { headers: { 'x-librechat-code-request-id': 'request-2' } })
    expect([late.status, await json(late)]).toMatchObject([409, { message: expect.stringContaining('cancelled') }])
  })
})

it('of one end user is not cancelled or blocked by another one whose token has the same key id', async () => {
  const userKey = async (subject: string): Promise<TestKey> => {
    const key = newApiKey()
    await api.table.tenants.putKey({ ...apiKeyRow(key, { tenant: api.owner.tenant, subject }, api.now()), id: 'jwt_shared' })
    return { tenant: api.owner.tenant, keyId: 'jwt_shared', key }
  }
  const [ann, bob] = [await userKey('ann'), await userKey('bob')]
  const headers = { 'x-librechat-code-request-id': 'request-3' }
  const cancel = async (key: TestKey) => json(await api.post(`${BASE}/programmatic/cancel`, { request_id: 'request-3' }, { key }))
  const start = async (key: TestKey) => {
    const answer = api.post(`${BASE}/programmatic`, PROGRAM, { headers, key })
    return { answer, row: await nextRow() }
  }
  const ofAnn = await start(ann)
  const ofBob = await start(bob)
  expect([ofAnn.row.subject, ofBob.row.subject]).toEqual(['ann', 'bob'])
  expect(await cancel(bob)).toEqual({ cancelled: true })
  expect((await api.table.executions.get(api.owner.tenant, ofAnn.row.id))?.status).toBe('queued')
  expect(await cancel(ann)).toEqual({ cancelled: true })
  await Promise.all([ofAnn.answer, ofBob.answer])
})

it('JavaScript runs as a process in an image that has it', async () => {
  const answered = api.post(BASE, { lang: 'js', code: 'console.log(1)', args: ['a'] })
  const row = await nextRow()
  expect(row.source).toMatchObject({ kind: 'command', argv: ['node', '-', 'a'], stdin: Buffer.from('console.log(1)').toString('base64') })
  expect((await api.table.containers.get(api.owner.tenant, row.containerId))?.image).toBe('standard')
  await finishExecution(api, api.owner.tenant, row.id, { result: { stdout: '1\n', exit: { code: 0, signal: null } } })
  expect(await json(await answered)).toMatchObject({ stdout: '1\n', code: 0 })
})
