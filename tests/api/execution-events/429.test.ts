import { afterAll, beforeAll, expect, it } from 'vitest'
import { startApi, type TestApi } from '../../support/start-api.ts'

const MOST = 2
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
  const open = await Promise.all(Array.from({ length: MOST }, follow))
  expect(open.map(({ status }) => status)).toEqual([200, 200])

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
  await open[1]?.body?.cancel()
})

it('frees the stream slot of a call that is refused for another reason', async () => {
  for (let attempt = 0; attempt < 2 * MOST; attempt++)
    await expect.poll(async () => (await api.fetch('/v1/executions/exec_0/events')).status).toBe(404)
  await expect
    .poll(async () => {
      const answer = await follow()
      await answer.body?.cancel()
      return answer.status
    })
    .toBe(200)
})
