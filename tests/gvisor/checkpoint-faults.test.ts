import Docker from 'dockerode'
import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, inject, it } from 'vitest'
import { createSandboxLink } from '../../services/adapters/link/create-sandbox-link.ts'
import { controlSocket, defaultControlRoot, resumptionMark } from '../../services/adapters/drivers/docker/control-folder.ts'
import { createSupervisorClient } from '../../services/adapters/supervisor-client/supervisor-client.ts'
import { createLimitReader } from '../../services/operations/tenancy/limit-reader.ts'
import { repairContainer } from '../../services/workers/reconcile/repair-container.ts'
import { repairSandbox } from '../../services/workers/place/repair-sandbox.ts'
import { sweepTenant } from '../../services/workers/reconcile/sweep-tenant.ts'
import { startSuspendingBench, type SuspendingBench } from './suspending-bench.ts'

const ROOT = '/var/lib/cellblock/checkpoints'
const image = inject('sandboxImage')

/** A container with variables, a file and a thread. */
async function withProcesses({ bench }: SuspendingBench): Promise<string> {
  const { id } = await bench.newContainer()
  await bench.warm()
  const code = `import threading, time
value = 42
open("kept.txt", "w").write("x")
threading.Thread(target=time.sleep, args=(100000,), daemon=True).start()`
  expect(await bench.run(id, code)).toMatchObject({ status: 'succeeded' })
  return id
}

const folderOf = async (sandboxId: string): Promise<string> => join(ROOT, (await new Docker().getContainer(sandboxId).inspect()).Id)

describe('a checkpoint', () => {
  let suspending: SuspendingBench
  beforeAll(async () => {
    suspending = await startSuspendingBench({ image })
  }, 900_000)
  afterAll(() => suspending.bench.stop())

  async function suspended(): Promise<{ readonly id: string; readonly folder: string }> {
    const id = await withProcesses(suspending)
    const { id: sandboxId, state } = await suspending.suspend(id)
    const folder = await folderOf(sandboxId)
    expect([state, existsSync(folder)]).toEqual(['suspended', true])
    return { id, folder }
  }

  it('is deleted with its container', async () => {
    const { bench } = suspending
    const { id, folder } = await suspended()
    await bench.storage.table.containers.markDeleted(bench.tenant, id, Date.now())
    const limits = createLimitReader(bench.storage.table.tenants, bench.placing.clock)
    await repairContainer({ ...bench.placing, limits }, { kind: 'container', tenant: bench.tenant, id, dueAt: 0 })
    expect(existsSync(folder)).toBe(false)
  })

  it('of an earlier start of the host is deleted by the reconciler, and the loss is named', async () => {
    const { bench } = suspending
    const { id, folder } = await suspended()
    const name = readdirSync(folder).find((found) => found !== 'engine') ?? ''
    const description = join(folder, name, 'cellblock.json')
    const { program } = JSON.parse(readFileSync(description, 'utf8')) as { readonly program: string }
    writeFileSync(description, JSON.stringify({ program, bootId: 'earlier' }))
    const sandbox = await suspending.sandboxOf(id)
    // The engine is still ending the container.
    await expect.poll(async () => (await bench.placing.driver.inspect(sandbox.id)).phase, { timeout: 10_000 }).toBe('gone')
    await repairSandbox(bench.placing, sandbox, () => bench.placing.driver.inspect(sandbox.id))
    expect(existsSync(folder)).toBe(false)
    await bench.warm()
    const { result } = await bench.run(id, 'print(value)')
    expect(result).toMatchObject({ stdout: '42\n', lost: expect.arrayContaining([expect.objectContaining({ what: 'processes' })]) })
  })

  it('is deleted with its tenant, also if the message that stops the sandbox was lost', async () => {
    const { bench } = suspending
    const { folder } = await suspended()
    const { table } = bench.storage
    const { tenants, containers, sandboxes } = table
    await tenants.create({ v: 1, id: bench.tenant, name: 'company', createdAt: Date.now() })
    await tenants.beginDeletion(bench.tenant, Date.now())
    const deps = { ...bench.placing, limits: createLimitReader(tenants, bench.placing.clock) }
    await sweepTenant(deps, { kind: 'tenant', tenant: bench.tenant, id: bench.tenant, dueAt: 0 })
    for (const row of await table.due(Date.now() + 60_000, 100)) if (row.kind === 'container') await repairContainer(deps, row)
    expect((await containers.list(bench.tenant, { after: null, limit: 10, order: 'asc', name: null })).rows).toEqual([])
    for (const sandbox of await sandboxes.ofTenant(bench.tenant))
      await repairSandbox(bench.placing, sandbox, () => bench.placing.driver.inspect(sandbox.id))
    expect(existsSync(folder)).toBe(false)
  })
})

describe('a sandbox that left something where the host says that it continues', () => {
  let suspending: SuspendingBench
  beforeAll(async () => {
    suspending = await startSuspendingBench({ image })
  }, 900_000)
  afterAll(() => suspending.bench.stop())

  it('cannot make the host write to another file', async () => {
    const id = await withProcesses(suspending)
    const { id: sandboxId } = await suspending.suspend(id)
    const target = join(mkdtempSync(join(tmpdir(), 'mark-')), 'target')
    writeFileSync(target, 'of the host')
    symlinkSync(target, resumptionMark(controlSocket(defaultControlRoot(), sandboxId)))
    expect((await suspending.runResumed(id, 'print(value)')).result).toMatchObject({ stdout: '42\n', lost: [] })
    expect(readFileSync(target, 'utf8')).toBe('of the host')
  })
})

describe('a disk that is full', () => {
  const root = mkdtempSync(join(tmpdir(), 'checkpoints-'))
  const supervisor = createSupervisorClient({ link: createSandboxLink() })
  let suspending: SuspendingBench
  let onSuspend = (): void => undefined
  const resize = (size: string): void => void execFileSync('mount', ['-o', `remount,size=${size}`, root])

  beforeAll(async () => {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=4g', 'cellblock-test', root])
    suspending = await startSuspendingBench({
      image,
      driver: ({ checkpoints }) => ({
        ...(checkpoints && { checkpoints: { ...checkpoints, root } }),
        supervisor: {
          health: (...call) => supervisor.health(...call),
          suspend: (session) => {
            onSuspend()
            return supervisor.suspend(session)
          },
        },
      }),
    })
  }, 900_000)
  afterEach(() => {
    onSuspend = () => undefined
    resize('4g')
  })
  afterAll(async () => {
    await suspending.bench.stop()
    execFileSync('umount', ['--lazy', root])
    rmSync(root, { recursive: true })
  })

  it.each([
    ['before a checkpoint is written', () => resize('1m')],
    ['while a checkpoint is written', () => void (onSuspend = () => resize('8m'))],
  ])('%s leaves the variables and files, and the loss is named', async (_, fill) => {
    const { bench } = suspending
    const id = await withProcesses(suspending)
    const before = await suspending.sandboxOf(id)
    fill()
    expect(await suspending.suspend(id)).toMatchObject({ state: 'gone' })
    expect(await bench.placing.driver.inspect(before.id)).toMatchObject({ phase: 'gone' })
    expect(readdirSync(root)).toEqual([])
    await bench.warm()
    const { result } = await bench.run(id, 'print(value, open("kept.txt").read())')
    expect(result?.stdout).toBe('42 x\n')
    expect(result?.lost).toContainEqual({ what: 'processes', reason: expect.any(String) })
  })
})
