import { tenantObjects } from '../../services/model/object-keys.ts'
import type { TestApi, TestKey } from './start-api.ts'
import { manifest, zipOf } from './skill-files.ts'

const MiB = 2 ** 20

/** A tenant at its limit of 1 MiB, with one object of each kind. */
export async function fillAccount(api: TestApi): Promise<{ readonly key: TestKey; readonly ids: Readonly<Record<string, string>> }> {
  const key = await api.newKey()
  const policy = { limits: { storageBytes: MiB } }
  await api.table.tenants.create({ v: 1, id: key.tenant, name: 'full', createdAt: Date.now(), policy })
  const post = async (path: string, body: unknown): Promise<string> => {
    const answer = await api.post(path, body, { key })
    const { id } = (await answer.json()) as { id?: string }
    if (id === undefined) throw new Error(`${path} answered ${answer.status}`)
    return id
  }
  const container = await post('/v1/containers', { name: 'full' })
  const ids = {
    container,
    conversation: await post('/v1/conversations', {}),
    response: await post('/v1/responses', { model: 'demo', input: 'x', background: true }),
    execution: await post(`/v1/containers/${container}/executions?wait=0`, { code: 'x' }),
    command: await post(`/v1/containers/${container}/commands?wait=0`, { command: 'cat', stdin: 'open' }),
    upload: await post('/v1/uploads', { filename: 'x', bytes: 10, mime_type: 'text/plain', purpose: 'user_data' }),
    skill: await skillOf(api, key),
    sandbox: await sandboxOf(api, key),
    uuid: await post('/n8n/sandboxes', {}),
    file: '',
  }
  // Nothing of the limit remains.
  for (let bytes = MiB; bytes >= 16; bytes /= 2) {
    const file = new File([new Uint8Array(bytes)], 'x')
    const made = await api
      .openai(key)
      .files.create({ file, purpose: 'user_data' })
      .catch(() => null)
    if (made !== null) ids.file = made.id
  }
  const small = [
    ['/v1/conversations', {}],
    ['/v1/uploads', { filename: 'x', bytes: 10, mime_type: 'text/plain', purpose: 'user_data' }],
    [`/v1/commands/${ids.command}/stdin`, { data: 'x' }],
  ] as const
  for (const [path, body] of small) while ((await api.post(path, body, { key })).ok);
  return { key, ids }
}

async function sandboxOf(api: TestApi, key: TestKey): Promise<string> {
  const headers = { 'x-api-key': key.key, 'content-type': 'application/json' }
  const answer = await fetch(`${api.url}/e2b/v2/sandboxes`, { method: 'POST', headers, body: '{}' })
  return JSON.stringify(await answer.json())
}

/** All bytes of a tenant: of its rows, without those that the service needs for itself, and of its objects. */
export async function storedBytesOf(api: TestApi, tenant: string): Promise<number> {
  let bytes = await api.objects.sizeOf(tenantObjects(tenant))
  for await (const row of api.table.tenantRows.export(tenant)) if (row.kind !== 'audit') bytes += JSON.stringify(row).length
  return bytes
}

async function skillOf(api: TestApi, key: TestKey): Promise<string> {
  const body = new FormData()
  body.append('files', new Blob([Uint8Array.from(zipOf({ 'a/SKILL.md': manifest('a') }))]), 'a.zip')
  const answer = await api.fetch('/v1/skills', { method: 'POST', key, body })
  return ((await answer.json()) as { id: string }).id
}
