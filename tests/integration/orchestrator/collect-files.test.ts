import { singleImage } from '../../../services/model/containers/images.ts'
import { createHash } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { ContainerFile } from '../../../services/model/files/file.ts'
import { newId } from '../../../services/model/ids.ts'
import { placeFile } from '../../../services/operations/files/place-file.ts'
import { createContainer } from '../../../services/operations/containers/create-container.ts'
import type { SupervisorEnvelope } from '../../../services/ports/supervisor.ts'
import type { RunDeps } from '../../../services/workers/deps.ts'
import { createSandboxLink } from '../../../services/adapters/link/create-sandbox-link.ts'
import { collectFiles } from '../../../services/workers/run/transfer/collect-files.ts'
import { createSupervisorClient } from '../../../services/adapters/supervisor-client/supervisor-client.ts'
import { createLocalSignals } from '../../../services/adapters/storage/signals/local-signals.ts'
import { startStorage, type Storage } from '../../support/start-storage.ts'
import { sendJson, startStubSupervisor } from '../../support/stub-supervisor.ts'
import { silentTelemetry } from '../../support/silent-telemetry.ts'

const tenant = newId('tenant')
const GENERATION = 3
let storage: Storage
let deps: RunDeps
let sandbox: Awaited<ReturnType<typeof startStubSupervisor>>
let containerId: string

beforeAll(async () => {
  storage = await startStorage()
  sandbox = await startStubSupervisor(newId('sandbox'))
  deps = {
    ...storage,
    signals: createLocalSignals(),
    telemetry: silentTelemetry,
    clock: { now: () => Date.now() },
    supervisor: createSupervisorClient({ link: createSandboxLink() }),
    workerId: 'collect-test',
    images: singleImage('any'),
    stepBudgetMs: 50_000,
    costPerSecond: () => 0,
  }
})
afterAll(async () => {
  await sandbox[Symbol.asyncDispose]()
  await storage.stop()
})
beforeEach(async () => {
  containerId = (await createContainer(storage.table, { tenant, subject: null, name: 'x', memoryTier: '1g' }, Date.now())).id
})

const ENVELOPE: SupervisorEnvelope = {
  outcome: 'ok',
  runMs: 1,
  cpuMs: 1,
  peakMemoryBytes: 1,
  outputBytes: 0,
  truncated: [],
  files: [],
  deleted: [],
  skipped: [],
  endedProcesses: 0,
  stateLost: null,
  traceId: null,
}
/** A file made by the code, as the sandbox reports and serves it. */
function made(path: string, text: string): SupervisorEnvelope['files'][number] {
  sandbox.on(
    `GET /files/${encodeURIComponent(path)}`,
    (_, response) => void response.writeHead(200, { 'content-length': text.length }).end(text),
  )
  return { path, bytes: text.length, sha256: sha256(text) } as SupervisorEnvelope['files'][number]
}
const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex')
const collect = (envelope: Partial<SupervisorEnvelope>, ports: RunDeps = deps) =>
  collectFiles(ports, {
    session: sandbox.session,
    owner: { tenant, id: containerId, generation: GENERATION },
    executionId: 'exec_1',
    maxFiles: 10,
    envelope: { ...ENVELOPE, ...envelope },
    signal: AbortSignal.timeout(30_000),
  })
const upload = (path: string, text: string): Promise<ContainerFile> =>
  placeFile(
    storage,
    { tenant, path, bytes: text.length, sha256: null, mime: 'text/plain', body: Buffer.from(text) },
    { containerId, now: Date.now() },
  )
const current = async (): Promise<readonly string[]> =>
  (await storage.table.files.all(tenant, containerId)).filter((file) => file.isCurrent).map((file) => file.id)

describe('a file uploaded while code runs', () => {
  it('stays when the code deletes its older file with the same name', async () => {
    const uploaded = await upload('data.csv', 'new')
    await collect({ deleted: ['data.csv'] })
    expect(await current()).toEqual([uploaded.id])
    await storage.table.files.patch({ tenant, containerId, id: uploaded.id }, { sandboxGeneration: GENERATION })
    await collect({ deleted: ['data.csv'] })
    expect(await current()).toEqual([])
  })

  it('leaves exactly one current file per name when the code writes the same name', async () => {
    const { files } = storage.table
    let uploaded: ContainerFile | null = null
    // The upload arrives after this step's read and before its first write.
    const meanwhile = {
      ...files,
      async put(file: ContainerFile) {
        uploaded = await upload('data.csv', 'uploaded')
        await files.put(file)
      },
    }
    const { files: collected } = await collect(
      { files: [made('data.csv', 'made')] },
      { ...deps, table: { ...storage.table, files: meanwhile } },
    )
    expect(uploaded).not.toBeNull()
    expect(await current()).toHaveLength(1)
    expect(collected).toMatchObject([{ path: 'data.csv' }])
  })
})

it('a version left beside its successor by a crash is superseded when the step is repeated', async () => {
  const before = await upload('data.csv', 'before')
  const { files } = storage.table
  const dies = { ...files, patch: () => Promise.reject(new Error('crashed')) }
  const envelope = { files: [made('data.csv', 'after')] }
  await expect(collect(envelope, { ...deps, table: { ...storage.table, files: dies } })).rejects.toThrow('crashed')
  expect(await current()).toHaveLength(2)
  const { files: collected } = await collect(envelope)
  expect(await current()).toEqual([collected[0]?.id])
  expect(collected[0]?.id).not.toBe(before.id)
})

it('a file that became unreadable after the code ended is named in lost, and the others are kept', async () => {
  sandbox.on('GET /files/closed.txt', (_, response) =>
    sendJson(response, 400, { error: { code: 'bad_request', message: 'Permission denied' } }),
  )
  const closed = { ...made('open.txt', 'kept'), path: 'closed.txt' }
  const { files, lost } = await collect({ files: [closed, made('open.txt', 'kept')] })
  expect(files).toMatchObject([{ path: 'open.txt' }])
  expect(lost).toEqual([{ what: 'file "closed.txt"', reason: expect.stringContaining('closed to reading') }])
})

describe('names', () => {
  const composed = 'B\u00fccher.txt'
  const decomposed = 'Bu\u0308cher.txt'
  const rows = async () => (await storage.table.files.all(tenant, containerId)).filter((file) => file.isCurrent)

  it('are stored in Unicode form C and keep their spelling in sandboxes', async () => {
    const { files, lost } = await collect({ files: [made(decomposed, 'mac')] })
    expect([files, lost]).toMatchObject([[{ path: composed, isNew: true }], []])
    expect(await rows()).toMatchObject([{ path: composed, sandboxPath: decomposed }])
    const again = await collect({ files: [made(decomposed, 'changed')] })
    expect(again.files).toMatchObject([{ path: composed, isNew: false, modifiedFrom: files[0]?.id }])
    await collect({ deleted: [decomposed] })
    expect(await rows()).toEqual([])
  })

  it('that are equal in form C are two files, and the renamed one is named in lost', async () => {
    const both = { files: [made(decomposed, 'mac'), made(composed, 'linux')] }
    const { files, lost } = await collect(both)
    const other = expect.stringMatching(/^B\u00fccher-[0-9a-f]{8}\.txt$/) as string
    expect(files).toEqual([
      expect.objectContaining({ path: composed, sha256: sha256('linux') }),
      expect.objectContaining({ path: other, sha256: sha256('mac') }),
    ])
    expect(lost).toEqual([{ what: `file ${JSON.stringify(decomposed)}`, reason: expect.stringContaining(files[1]?.path ?? '') }])
    const repeated = await collect(both)
    expect(repeated.files.map(({ id }) => id).toSorted()).toEqual(files.map(({ id }) => id).toSorted())
    expect(await rows()).toHaveLength(2)
  })

  it('do not take the path of an upload', async () => {
    const uploaded = await upload(composed, 'uploaded')
    const { files } = await collect({ files: [made(decomposed, 'mac')] })
    expect(files[0]?.path).not.toBe(composed)
    expect(await current()).toContain(uploaded.id)
  })

  it('with joiners are collected, those with overrides are named', async () => {
    const { files, lost } = await collect({
      files: [made('\u06af\u0632\u0627\u0631\u0634\u200c\u0647\u0627.csv', 'x'), made('evil\u202egnp.exe', 'x')],
    })
    expect(files).toMatchObject([{ path: '\u06af\u0632\u0627\u0631\u0634\u200c\u0647\u0627.csv' }])
    expect(lost).toMatchObject([{ what: 'file "evil\u202egnp.exe"' }])
  })
})
