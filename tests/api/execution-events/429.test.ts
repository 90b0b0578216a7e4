import { afterAll, beforeAll, expect, it } from 'vitest'
import { startApi, type TestApi, type TestKey } from '../../support/start-api.ts'

const MOST = 8
/** One account may open so many, and another one so many then. */
const HALF = MOST / 2
const QUARTER = MOST / 4
let api: TestApi
let containerId: string
let executionId: string
beforeAll(async () => {
  api = await startApi({ config: { maxOpenStreams: MOST } })
  containerId = (await api.openai().containers.create({ name: 'streams' })).id
  const accepted = await api.post(`/v1/containers/${containerId}/executions?wait=0`, { code: 'x' })
  executionId = ((await accepted.json()) as { id: string }).id
})
afterAll(() => api.stop())

const follow = (signal?: AbortSignal): Promise<Response> => api.fetch(`/v1/executions/${executionId}/events`, { ...(signal && { signal }) })

it('returns 429 with Retry-After at the stream limit, accepts nothing, and succeeds after a stream has ended', async () => {
  const open = await Promise.all(Array.from({ length: HALF }, () => follow()))
  expect(open.map(({ status }) => status)).toEqual(Array(HALF).fill(200))

  const refused = await follow()
  expect(refused.status).toBe(429)
  expect(refused.headers.get('retry-after')).toMatch(/^\d+$/)
  expect(await refused.json()).toMatchObject({ error: { code: 'too_many_streams', type: 'rate_limit_error' } })

  const due = async (): Promise<number> =>
    (await api.table.due(Number.MAX_SAFE_INTEGER, 1_000)).filter(({ kind }) => kind === 'response').length
  const before = await due()
  const turn = await api.post('/v1/responses', { model: 'demo', input: 'hello', stream: true })
  expect(turn.status).toBe(429)
  expect(await due()).toBe(before)

  await open[0]?.body?.cancel()
  await expect
    .poll(async () => {
      const again = await follow()
      await again.body?.cancel()
      return again.status
    })
    .toBe(200)
  await Promise.all(open.slice(1).map(({ body }) => body?.cancel()))
})

it('frees the stream slot of a call that is refused for another reason', async () => {
  for (let attempt = 0; attempt < 2 * HALF; attempt++)
    await expect.poll(async () => (await api.fetch('/v1/executions/exec_0/events')).status).toBe(404)
  await expect
    .poll(async () => {
      const answer = await follow()
      await answer.body?.cancel()
      return answer.status
    })
    .toBe(200)
})

it('leaves streams for a third account while two take what they can', async () => {
  const other = await api.newKey()
  const third = await api.newKey()
  const idOf = async (key: TestKey): Promise<string> => {
    const { id } = await api.openai(key).containers.create({ name: 'streams' })
    const accepted = await api.post(`/v1/containers/${id}/executions?wait=0`, { code: 'x' }, { key })
    return ((await accepted.json()) as { id: string }).id
  }
  const streams: Response[] = []
  const openAll = async (key: TestKey, id: string): Promise<number> => {
    const answers = await Promise.all(Array.from({ length: MOST }, () => api.fetch(`/v1/executions/${id}/events`, { key })))
    const open = answers.filter(({ status }) => status === 200)
    streams.push(...open)
    for (const refused of answers.filter(({ status }) => status !== 200)) {
      expect(refused.headers.get('x-limit-name')).toBe('max_open_streams')
      expect(await refused.json()).toMatchObject({ error: { code: 'too_many_streams' } })
    }
    return open.length
  }
  const otherId = await idOf(other)
  const thirdId = await idOf(third)
  const used = async (): Promise<unknown> =>
    ((await (await api.fetch('/v1/limits')).json()) as { limits: Record<string, { used: unknown }> }).limits['max_open_streams']?.used
  await expect.poll(used).toBe(0)
  expect(await openAll(api.owner, executionId)).toBe(HALF)
  expect(await openAll(other, otherId)).toBe(QUARTER)
  expect(await openAll(third, thirdId)).toBe(QUARTER)
  await Promise.all(streams.map(({ body }) => body?.cancel()))
})
