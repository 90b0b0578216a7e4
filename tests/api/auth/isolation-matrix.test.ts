import { afterAll, beforeAll, expect, it } from 'vitest'
import { newId } from '../../../services/model/ids.ts'
import { createLink } from '../../../services/operations/links/create-link.ts'
import { labelOf as sandboxIdOf } from '../../../services/model/containers/container-label.ts'
import { ROUTES } from '../../../services/wires/routes.ts'
import { BODIES, CHECKED_FORMS, MISSING, PROBE_HEADERS, QUERIES } from '../../support/probe-requests.ts'
import { startApi, type TestApi, type TestKey } from '../../support/start-api.ts'

/** One object of each kind, under the names of the path parameters. */
type Ids = Readonly<Record<string, string>>

const PARAMETERS = Object.keys(MISSING)
/** For an object that is there, these answers wait for a sandbox or for the end of a job. */
const WAITING = /\/(?:entries|events|output)\b/
const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']
/** Rules of the protocol differ per answer, not per object. */
const VOLATILE = ['date', 'content-length', 'x-request-id', 'traceresponse', 'openai-processing-ms']
const AT_ONCE = 8

let api: TestApi
let ann: TestKey
let callers: readonly { readonly name: string; readonly key: TestKey; readonly own: Ids }[]
let foreign: Ids
let deleted: Ids
let random: Ids
let allIds: readonly string[]

/** The probes of this file are not what the request rate is for. */
async function newTenant(): Promise<string> {
  const id = newId('tenant')
  await api.table.tenants.create({ v: 1, id, name: id, createdAt: Date.now(), policy: { limits: { requestsPerSecond: 100_000 } } })
  return id
}

async function makeObjects(key: TestKey): Promise<Ids> {
  const client = api.openai(key)
  const idOf = async (path: string, body: unknown): Promise<string> =>
    ((await (await api.post(path, body, { key, headers: PROBE_HEADERS })).json()) as { id: string }).id
  const container = await client.containers.create({ name: 'one' })
  const conversation = await client.conversations.create({ items: [{ role: 'user', content: 'x' }] })
  const [item] = (await client.conversations.items.list(conversation.id)).data
  const webhook = await client.webhooks.create({ name: 'x', url: 'https://example.com/', event_types: ['response.completed'] })
  const target = { objectKey: 'k', filename: 'f', mime: 'text/plain', bytes: 1 }
  const link = await createLink(
    api.table.links,
    { tenant: key.tenant, containerId: container.id, fileId: null, target, publicUrl: api.url, days: 7 },
    Date.now(),
  )
  const sandbox_uuid = await idOf('/n8n/sandboxes', {})
  await (await api.post(`/n8n/sandboxes/${sandbox_uuid}/executions`, { command: 'true', exec_id: 'one' }, { key })).body?.cancel()
  return {
    snapshot_id: await idOf(`/v1/containers/${container.id}/snapshots`, {}),
    sandbox_uuid,
    exec_id: 'one',
    port: '8501',
    process_id: await idOf('/open-webui/execute', { command: 'true' }),
    terminal_id: await idOf('/open-webui/api/terminals', {}),
    container_id: container.id,
    sandbox_id: sandboxIdOf({ id: container.id, tenant: key.tenant }),
    session_id: container.id,
    link_id: link.id,
    webhook_endpoint_id: webhook.id,
    share_id: await idOf(`/v1/conversations/${conversation.id}/shares`, {}),
    tenant_id: key.tenant,
    key_id: key.keyId,
    job_id: await idOf(`/v1/containers/${container.id}/executions?wait=0`, { code: 'y' }),
    execution_id: await idOf(`/v1/containers/${container.id}/executions?wait=0`, { code: 'x' }),
    command_id: await idOf(`/v1/containers/${container.id}/commands?wait=0`, { command: 'true' }),
    response_id: (await client.responses.create({ model: 'demo', input: 'x', background: true })).id,
    file_id: (await client.containers.files.create(container.id, { file: new File(['x'], 'x') })).id,
    user_file_id: (await client.files.create({ file: new File(['x'], 'x'), purpose: 'user_data' })).id,
    conversation_id: conversation.id,
    item_id: item?.id ?? '',
    upload_id: (await client.uploads.create({ filename: 'x', bytes: 1, mime_type: 'text/plain', purpose: 'user_data' })).id,
  }
}

beforeAll(async () => {
  api = await startApi()
  const tenant = await newTenant()
  const keys = {
    'another tenant': await api.newKey({ tenant: await newTenant() }),
    'an end user of another tenant': await api.newKey({ tenant: await newTenant(), subject: 'ann' }),
    'another end user of the tenant': await api.newKey({ tenant, subject: 'bob' }),
  }
  ann = await api.newKey({ tenant, subject: 'ann' })
  foreign = await makeObjects(ann)
  callers = await Promise.all(Object.entries(keys).map(async ([name, key]) => ({ name, key, own: await makeObjects(key) })))
  deleted = await makeObjects(ann)
  const client = api.openai(ann)
  await client.containers.delete(deleted['container_id'] ?? '')
  await api.fetch(`/v1/snapshots/${deleted['snapshot_id']}`, { method: 'DELETE', key: ann })
  await client.files.delete(deleted['user_file_id'] ?? '')
  await client.conversations.delete(deleted['conversation_id'] ?? '')
  random = Object.fromEntries(
    Object.entries(MISSING).map(([name, id]) => [name, id.replaceAll(/01kajv9h2s8p0ww3d4dq4cs1zt/g, newId('worker').slice(4))]),
  )
  allIds = [MISSING, random, foreign, deleted, ...callers.map(({ own }) => own)].flatMap((ids) => Object.values(ids))
})
afterAll(() => api.stop())

const isProbed = (path: string): boolean => {
  const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name)
  return names.some((name) => PARAMETERS.includes(name))
}
const PATHS = [...new Set(ROUTES.map(({ path }) => path))].filter(isProbed)

interface Probe {
  readonly path: string
  readonly method: string
  readonly key: TestKey
  readonly ids: Ids
  readonly hasIdempotencyKey: boolean
}

async function answerTo({ path, method, key, ids, hasIdempotencyKey }: Probe): Promise<string> {
  const route = ROUTES.find((candidate) => candidate.path === path && candidate.method.toUpperCase() === method)
  const body = route === undefined ? undefined : BODIES[route.operationId]
  const headers = {
    ...PROBE_HEADERS,
    ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    ...(hasIdempotencyKey ? { 'idempotency-key': `${method} ${path}`.replaceAll(/[^\w]/g, '-') } : {}),
  }
  const address = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => ids[name] ?? '0') + (QUERIES[route?.operationId ?? ''] ?? '')
  const answer = await api.fetch(address, { key, method, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) })
  const text = (await answer.text()).replaceAll(/req_\w+/g, 'REQ')
  const kept = [...answer.headers].filter(([name]) => !VOLATILE.includes(name))
  return JSON.stringify([
    answer.status,
    kept,
    allIds.reduce((seen, id) => seen.replaceAll(id, 'ID'), text).replaceAll(MALFORMED_SHOWN, 'ID'),
  ])
}

const MALFORMED_SHOWN = /\.\.\/\.\.\/etc|☃+|'; drop--/g
const malformed = (value: string): Ids => Object.fromEntries(PARAMETERS.map((name) => [name, CHECKED_FORMS[name] ?? value]))
/** Ids of the right form in the wrong place: those of the kind before. */
const rotated = (ids: Ids): Ids =>
  Object.fromEntries(PARAMETERS.map((name, index) => [name, CHECKED_FORMS[name] ?? ids[PARAMETERS.at(index - 1) ?? ''] ?? '']))

it('answers foreign, deleted, malformed and missing ids identically: at least 5,000 probes', { timeout: 480_000 }, async () => {
  const leaks: string[] = []
  let probes = 0
  let ownAnswers = 0
  const jobs: (() => Promise<void>)[] = []
  for (const { name, key, own } of callers)
    for (const path of PATHS)
      for (const method of METHODS)
        for (const hasIdempotencyKey of method === 'POST' ? [false, true] : [false])
          jobs.push(async () => {
            const probe = { path, method, key, hasIdempotencyKey }
            const missing = await answerTo({ ...probe, ids: MISSING })
            // The caller's own container alone is no foreign object.
            const isNested = /\{(?!container_id|session_id|conversation_id)/.test(path)
            const nested = {
              container_id: own['container_id'] ?? '',
              session_id: own['session_id'] ?? '',
              conversation_id: own['conversation_id'] ?? '',
            }
            const kinds: Readonly<Record<string, Ids>> = {
              foreign,
              deleted,
              random,
              traversal: malformed('..%2F..%2Fetc'),
              'wrong kind': rotated(foreign),
              'own container': { ...foreign, ...nested },
            }
            const reference = isNested ? await answerTo({ ...probe, ids: { ...MISSING, ...nested } }) : null
            probes += isNested ? 2 : 1
            // The control: the same comparison sees an object that is there.
            if (method === 'GET' && !WAITING.test(path) && (await answerTo({ ...probe, ids: own })) !== missing) ownAnswers++
            for (const [kind, ids] of Object.entries(kinds)) {
              if (kind === 'own container' && reference === null) continue
              // An idempotency key is looked up before the id: one kind of id shows that its answer says nothing.
              if (hasIdempotencyKey && kind !== 'foreign') continue
              probes++
              const answer = await answerTo({ ...probe, ids })
              if (answer !== (kind === 'own container' ? reference : missing))
                leaks.push(`${name}: ${method} ${path} with ${kind} ids: ${answer}`)
            }
          })
  const next = jobs[Symbol.iterator]()
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      for (const job of next) await job()
    }),
  )
  expect(leaks).toEqual([])
  expect(ownAnswers).toBeGreaterThan(30)
  console.log(`${probes} probes of ${PATHS.length} paths`)
  expect(probes).toBeGreaterThanOrEqual(5_000)
})

/** The share of pairs in which `first` is the larger number: 0.5 when both come from one distribution. */
const shareLarger = (first: readonly number[], second: readonly number[]): number =>
  first.filter((value, index) => value > (second[index] ?? Infinity)).length / first.length

it('takes as long for a foreign id as for a missing one', async () => {
  const [caller] = callers
  const time = async (id: string): Promise<number> => {
    const startedAt = performance.now()
    await (await api.fetch(`/v1/containers/${id}`, { key: caller?.key ?? ann })).text()
    return performance.now() - startedAt
  }
  const times: { readonly foreign: number[]; readonly missing: number[] } = { foreign: [], missing: [] }
  const measures = [
    async () => times.foreign.push(await time(foreign['container_id'] ?? '')),
    async () => times.missing.push(await time(MISSING['container_id'] ?? '')),
  ]
  // Neighbouring requests meet the same load, and each kind goes first equally often: the machine's speed cancels out.
  for (let round = 0; round < 300; round++) for (let n = 0; n < measures.length; n++) await measures[(round + n) % measures.length]?.()
  const share = shareLarger(times.foreign, times.missing)
  console.log(`a foreign id took longer than a missing one in ${(share * 100).toFixed(0)} % of ${times.foreign.length} pairs`)
  expect(Math.abs(share - 0.5)).toBeLessThanOrEqual(0.2)
})

it('changes no object of the owner by any probe', async () => {
  const client = api.openai(ann)
  const id = foreign['container_id'] ?? ''
  expect(await client.containers.retrieve(id)).toMatchObject({ name: 'one' })
  expect((await client.containers.files.list(id)).data.map((file) => file.id)).toEqual([foreign['file_id']])
  expect((await client.responses.retrieve(foreign['response_id'] ?? '')).status).toBe('queued')
  expect((await client.conversations.items.list(foreign['conversation_id'] ?? '')).data.map((item) => item.id)).toEqual([
    foreign['item_id'],
  ])
  expect((await client.files.retrieve(foreign['user_file_id'] ?? '')).filename).toBe('x')
  expect((await api.table.links.get(ann.tenant, foreign['link_id'] ?? ''))?.revokedAt).toBeNull()
  expect((await api.table.uploads.get(ann.tenant, foreign['upload_id'] ?? ''))?.status).toBe('pending')
})
