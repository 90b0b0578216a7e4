import { afterAll, beforeAll, expect, it } from 'vitest'
import { Cellblock, CellblockError, type ServerEvent } from '../../../packages/client/src/index.ts'
import { finishExecution, headOf } from '../../support/finish-execution.ts'
import { startApi, type TestApi } from '../../support/start-api.ts'

let api: TestApi
let client: Cellblock
beforeAll(async () => {
  api = await startApi()
  client = new Cellblock({ baseUrl: `${api.url}/`, apiKey: api.owner.key })
})
afterAll(() => api.stop())

const newContainer = async (): Promise<string> => (await client.call('POST /v1/containers', { body: { name: 'client' } })).id

it('makes calls, and throws what the server refuses', async () => {
  const id = await newContainer()
  expect((await client.call('GET /v1/containers/{container_id}', { params: { container_id: id } })).name).toBe('client')
  const page = await client.call('GET /v1/containers', { query: { limit: 1, order: 'desc' } })
  expect(page.data.map((container) => container.id)).toEqual([id])
  const failure = await client
    .call('GET /v1/containers/{container_id}', { params: { container_id: 'cntr_no' } })
    .catch((error: unknown) => error)
  expect(failure).toBeInstanceOf(CellblockError)
  expect(failure).toMatchObject({ status: 404, code: 'container_not_found', requestId: expect.stringMatching(/^req_/) })
})

it('runs code and waits for its end', async () => {
  const id = await newContainer()
  const running = client.run(id, { code: 'print(1)' })
  await finishExecution(api, api.owner.tenant, await headOf(api, api.owner.tenant, id), { result: { stdout: '1\n' } })
  expect(await running).toMatchObject({ status: 'succeeded', stdout: '1\n' })
})

it('follows events across a lost connection, each once', async () => {
  const id = await newContainer()
  const { id: executionId } = await client.call('POST /v1/containers/{container_id}/executions', {
    params: { container_id: id },
    query: { wait: 0 },
    body: { code: 'print(1)' },
  })
  const logged = [1, 2, 3].map((seq) => ({ seq, at: Date.now(), type: 'stdout' as const, cell: 0, text: `${seq}\n` }))
  await finishExecution(api, api.owner.tenant, executionId, { logged })
  /** Every connection breaks after its second event. */
  const urls: string[] = []
  const breaking = new Cellblock({
    baseUrl: api.url,
    apiKey: api.owner.key,
    fetch: async (request) => {
      urls.push(request.url)
      const answer = await fetch(request)
      const frames = (await answer.text()).split('\n\n').filter((frame) => frame.startsWith('id:'))
      const part = frames.slice(0, 2).map((frame) => `${frame}\n\n`)
      return new Response(part.join(''), { headers: answer.headers })
    },
  })
  const events: ServerEvent[] = []
  for await (const event of breaking.events(executionId)) events.push(event)
  expect(events.map((event) => event.id)).toEqual(events.map((_, at) => at))
  expect(events.at(-1)?.event).toBe('done')
  expect(urls.slice(1).every((url) => url.includes('?after='))).toBe(true)
})

it('uploads in parts with progress', async () => {
  const bytes = 4_000_001
  const progress: number[] = []
  const file = await client.upload(new Blob([Buffer.alloc(bytes, 'x')]), {
    filename: 'big.txt',
    onProgress: (sent) => void progress.push(sent),
  })
  expect(progress).toEqual([4_000_000, bytes])
  expect(file).toMatchObject({ filename: 'big.txt', bytes })
  const id = await newContainer()
  const copy = await client.call('POST /v1/containers/{container_id}/files', {
    params: { container_id: id },
    body: { file_id: file.id },
  })
  expect((await client.download(id, copy.id)).size).toBe(bytes)
})
