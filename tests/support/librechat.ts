import { expect } from 'vitest'
import { finishExecution, headOf } from './finish-execution.ts'
import type { TestApi } from './start-api.ts'

const BASE = '/librechat/v1'
type Json = Record<string, unknown>

export interface UploadedFile {
  readonly session: string
  readonly fileId: string
  readonly body: Json
}

/** Uploads one file as LibreChat does: fields first. */
export async function upload(api: TestApi, name: string, text: string): Promise<UploadedFile> {
  const form = new FormData()
  form.set('kind', 'user')
  form.set('id', 'user-1')
  form.set('file', new File([text], name))
  const answer = await api.fetch(`${BASE}/upload`, { method: 'POST', body: form })
  expect(answer.status).toBe(200)
  const body = (await answer.json()) as Json
  const [file] = body['files'] as { fileId: string }[]
  return { session: String(body['storage_session_id']), fileId: file?.fileId ?? '', body }
}

/** Sends an execution and ends it as a worker would; `change` sees its container. */
export async function exec(
  api: TestApi,
  body: Json,
  result: Parameters<typeof finishExecution>[3],
  change: (containerId: string) => Promise<void> = async () => undefined,
): Promise<{ status: number; body: Json; headers: Headers }> {
  const list = async () =>
    (await api.table.containers.list(api.owner.tenant, { after: null, limit: 1_000, order: 'desc', name: null })).rows
  const known = new Set((await list()).map(({ id }) => id))
  const answered = api.post(`${BASE}/exec`, body)
  const hint = body['runtime_session_hint']
  const find = async (): Promise<string | undefined> =>
    (await list()).find(
      (row) => row.queue.length > 0 && (hint === undefined ? !known.has(row.id) : row.name === `librechat:${String(hint)}`),
    )?.id
  await expect.poll(find).toBeTypeOf('string')
  const containerId = (await find()) ?? ''
  const id = await headOf(api, api.owner.tenant, containerId)
  await change(containerId)
  await finishExecution(api, api.owner.tenant, id, result)
  const answer = await answered
  return { status: answer.status, body: (await answer.json()) as Json, headers: answer.headers }
}
