import { afterAll, beforeAll, expect, it } from 'vitest'
import type { ExecutionResult } from '../../../services/model/executions/execution.ts'
import { LIMITS } from '../../../services/model/limits.ts'
import { emptyResult } from '../../support/finish-execution.ts'
import { startApi, type TestApi } from '../../support/start-api.ts'

interface Answer {
  readonly id: string
  readonly stdout: string
  readonly outputs: readonly { readonly data: Readonly<Record<string, unknown>> }[]
  readonly omitted?: readonly { readonly what: string; readonly bytes: number; readonly url: string }[]
}
interface Ref {
  readonly url: string
  readonly bytes: number
  readonly mime: string
  readonly preview: string | null
}

let api: TestApi
let containerId: string
beforeAll(async () => {
  api = await startApi()
  containerId = (await api.openai().containers.create({ name: 'large' })).id
})
afterAll(() => api.stop())

const display = (data: Readonly<Record<string, unknown>>) => ({ output_type: 'display_data' as const, data, metadata: {} })
const image = (character: string): string => character.repeat(200_000)

/** 1.2 MB of images after 0.3 MB of HTML, and 0.5 MB of printed text. */
const LARGE: ExecutionResult = {
  ...emptyResult,
  stdout: 'printed\n'.repeat(62_500),
  cells: [
    {
      index: 0,
      status: 'ok',
      executionCount: 1,
      outputs: [
        ...Array.from({ length: 5 }, (_, index) => display({ 'text/html': `<p>${index}${'h'.repeat(60_000)}</p>`, 'text/plain': 'table' })),
        ...['A', 'B', 'C', 'D', 'E', 'F'].map((character) => display({ 'image/png': image(character), 'text/plain': '<Figure>' })),
      ],
    },
  ],
}

/** Ends an execution with a result that is stored as an object, as large ones are. */
async function finish(result: ExecutionResult, container = containerId): Promise<string> {
  const { id } = (await (await api.post(`/v1/containers/${container}/executions?wait=0`, { code: 'x' })).json()) as { id: string }
  const objectKey = `tenants/${api.owner.tenant}/${container}/results/${id}`
  const { bytes } = await api.objects.put(objectKey, Buffer.from(JSON.stringify(result)), { contentType: 'application/json' })
  const now = Date.now()
  const lease = await api.table.executions.acquireLease({ tenant: api.owner.tenant, id }, { owner: 'w', now, expiresAt: now + 1_000 })
  if (lease.kind !== 'acquired') throw new Error(lease.kind)
  await api.table.executions.commit(
    { tenant: api.owner.tenant, id, fence: lease.row.fence },
    {
      status: 'succeeded',
      endedAt: now,
      resultRef: { objectKey, bytes },
    },
  )
  return id
}
const read = async (path: string): Promise<{ readonly bytes: number; readonly answer: Answer }> => {
  const text = await (await api.fetch(path)).text()
  return { bytes: Buffer.byteLength(text), answer: JSON.parse(text) as Answer }
}

it('embeds at most 1 MB, images first, and names what it leaves out', async () => {
  const id = await finish(LARGE)
  const { bytes, answer } = await read(`/v1/executions/${id}`)
  expect(bytes).toBeLessThan(LIMITS.inlineAnswerBytes + 64 * 1024)
  const images = answer.outputs.slice(5).filter(({ data }) => data['image/png'] !== undefined)
  expect(images).toHaveLength(5)
  const ref = answer.outputs[10]?.data['cellblock/ref'] as Ref
  expect(ref).toMatchObject({ bytes: 200_000, mime: 'image/png', preview: null })
  expect(answer.omitted).toContainEqual({
    what: 'cells[0].outputs[10].data["image/png"]',
    bytes: 200_000,
    url: `${api.url}/v1/executions/${id}?inline=all`,
  })
  expect(answer.omitted?.map(({ what }) => what)).toContain('stdout')
  expect(answer.stdout).toMatch(/^printed\n[\s\S]*characters left out …[\s\S]*printed\n$/)
  expect(answer.stdout.length).toBeLessThan(1_100)
})

it('gives a preview of text that it leaves out, and the whole part under its address with the key', async () => {
  const html = `<p>${'h'.repeat(60_000)}</p>`
  const id = await finish({
    ...LARGE,
    cells: [{ ...LARGE.cells[0]!, outputs: [...LARGE.cells[0]!.outputs, display({ 'text/html': html })] }],
  })
  const { answer } = await read(`/v1/executions/${id}`)
  const left = answer.outputs.flatMap(({ data }) => (data['cellblock/ref'] ?? []) as Ref | Ref[])
  const text = left.find((ref) => ref.mime === 'text/html')
  expect(text?.preview).toHaveLength(1_000)
  const picture = left.find((ref) => ref.mime === 'image/png')
  const path = new URL(picture?.url ?? '').pathname + new URL(picture?.url ?? '').search
  const download = await api.fetch(path)
  expect(download.headers.get('content-disposition')).toBe('attachment; filename="output.png"')
  expect(Buffer.from(await download.arrayBuffer()).equals(Buffer.from(image('F'), 'base64'))).toBe(true)
  expect((await api.fetch(path, { key: null })).status).toBe(401)
  expect((await api.fetch(path, { key: api.otherTenant })).status).toBe(404)
  for (const wrong of [
    '0/99?type=text/html',
    '9/0?type=text/html',
    '0/0?type=constructor',
    '-1/0?type=text/html',
    '0/0?type=cellblock/ref',
  ])
    expect((await api.fetch(`/v1/executions/${id}/outputs/${wrong}`)).status, wrong).toBe(404)
})

it('embeds everything up to 16 MB with inline=all, parts in objects too', async () => {
  const objectKey = `tenants/${api.owner.tenant}/${containerId}/outputs/o`
  await api.objects.put(objectKey, Buffer.from('stored'), { contentType: 'text/plain' })
  const stored = display({ 'cellblock/ref': { objectKey, bytes: 6, mime: 'text/plain' } })
  const id = await finish({ ...LARGE, cells: [{ ...LARGE.cells[0]!, outputs: [...LARGE.cells[0]!.outputs, stored] }] })
  const { answer } = await read(`/v1/executions/${id}?inline=all`)
  expect(answer.omitted).toBeUndefined()
  expect(answer.stdout).toBe(LARGE.stdout)
  expect(answer.outputs[10]?.data['image/png']).toBe(image('F'))
  expect(answer.outputs[11]?.data['text/plain']).toBe('stored')
})

it('shares the megabyte among the executions of a list', async () => {
  const { id: other } = await api.openai().containers.create({ name: 'list' })
  for (let index = 0; index < 3; index++) await finish(LARGE, other)
  expect((await read(`/v1/containers/${other}/executions`)).bytes).toBeLessThan(LIMITS.inlineAnswerBytes + 128 * 1024)
})
