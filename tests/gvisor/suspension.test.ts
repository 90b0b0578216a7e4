import { hasEnded, type Execution } from '../../services/model/executions/execution.ts'
import { LEASE_MS } from '../../services/jobs/lease.ts'
import { crashingWorker } from '../support/crashing-worker.ts'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { countCheckpointBytes, countLive } from '../../services/operations/sandboxes/count-live.ts'
import { resumeContainer, suspendContainer } from '../../services/operations/containers/suspend-container.ts'
import { createLimitReader } from '../../services/operations/tenancy/limit-reader.ts'
import { createResourceCounts } from '../../services/operations/tenancy/resource-counts.ts'
import { isSuspended, type Container } from '../../services/model/containers/container.ts'
import { createPlaceStep } from '../../services/workers/place/place-step.ts'
import { createPool } from '../../services/workers/place/pool.ts'
import { repairSandbox } from '../../services/workers/place/repair-sandbox.ts'
import type { RunBench } from '../support/run-bench.ts'
import { startSuspendingBench, type SuspendingBench } from './suspending-bench.ts'

/** `npm run test:gvisor -- --long` repeats it a hundred times. */
const ROUNDS = process.env['CELLBLOCK_LONG_CALLS'] === '1' ? 100 : 3

let bench: RunBench
let place: SuspendingBench['place']
let sandboxOf: SuspendingBench['sandboxOf']
let suspend: SuspendingBench['suspend']
let runResumed: SuspendingBench['runResumed']
beforeAll(async () => {
  ;({ bench, place, sandboxOf, suspend, runResumed } = await startSuspendingBench({ image: inject('sandboxImage') }))
}, 900_000)
afterAll(() => bench.stop())

/** Servers, threads, a shell with a job and an open transaction. */
const PROGRAMS = `
import socket, socketserver, sqlite3, subprocess, threading, time
ticks = 0
def tick():
    global ticks
    while True:
        ticks += 1
        time.sleep(0.01)
threading.Thread(target=tick, daemon=True).start()
class Echo(socketserver.StreamRequestHandler):
    def handle(self):
        self.wfile.write(b"echo " + self.rfile.readline())
server = socketserver.ThreadingUnixStreamServer("/tmp/echo.sock", Echo)
threading.Thread(target=server.serve_forever, daemon=True).start()
database = sqlite3.connect("data.db", isolation_level=None)
database.execute("create table rows (value)")
database.execute("begin")
database.execute("insert into rows values (1)")
shell = subprocess.Popen(["bash"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
shell.stdin.write("sleep 100000 & job=$!; name=kept\\n")
shell.stdin.flush()
log = open("log.txt", "w")
log.write("one ")
generator = (number for number in range(1_000))
print(next(generator))`

const LOOK = `
before = ticks
time.sleep(0.1)
client = socket.socket(socket.AF_UNIX)
client.connect("/tmp/echo.sock")
client.sendall(b"hello\\n")
answer = client.recv(100).decode().strip()
client.close()
shell.stdin.write("kill -0 $job && echo $name\\n")
shell.stdin.flush()
rows = database.execute("select count(*) from rows").fetchone()[0]
print(ticks > before, answer, shell.stdout.readline().strip(), rows, database.in_transaction, next(generator), log.write("more "))`

async function withPrograms(): Promise<Container> {
  const container = await bench.newContainer()
  await bench.warm()
  expect(await bench.run(container.id, PROGRAMS)).toMatchObject({ status: 'succeeded', result: { stdout: '0\n', lost: [] } })
  return container
}

/** Delivers what the workers and the reconciler would, until the execution has ended. */
async function drive(id: string, execution: string): Promise<Execution> {
  for (let tries = 0; tries < 8; tries++) {
    await bench.step(id, execution)
    const row = await bench.storage.table.executions.get(bench.tenant, execution)
    if (row !== null && hasEnded(row.status)) return row
    const { sandboxId } = await bench.container(id)
    const sandbox = sandboxId === null ? null : await bench.storage.table.sandboxes.get(sandboxId)
    if (sandbox?.state === 'suspending') await repairSandbox(bench.placing, sandbox, () => bench.placing.driver.inspect(sandbox.id))
    if (sandbox?.state === 'starting') await place({ v: 1, type: 'sandbox.start', sandboxId: sandbox.id })
    bench.ahead += LEASE_MS + 1_000
  }
  return bench.ended(execution)
}

/** The crashes of a worker, before and after each of these calls. */
const crashes = (calls: readonly string[]) => calls.flatMap((at) => (['before', 'after'] as const).map((when) => ({ at, when })))

describe('a suspended container', () => {
  it(
    'continues its processes with the next call, each time',
    async () => {
      const { id } = await withPrograms()
      for (let round = 1; round <= ROUNDS; round++) {
        const suspended = await suspend(id)
        expect(suspended).toMatchObject({ state: 'suspended', checkpoint: { bytes: expect.any(Number) } })
        expect(suspended.checkpoint?.bytes).toBeGreaterThan(1_000_000)
        expect(await bench.placing.driver.inspect(suspended.id)).toEqual({ phase: 'suspended' })
        const resumed = await runResumed(id, LOOK)
        expect(resumed.result).toMatchObject({ stdout: `True echo hello kept 1 True ${round} 5\n`, lost: [] })
        expect(resumed.sandboxId).toBe(suspended.id)
        expect(isSuspended(await bench.container(id))).toBe(false)
      }
    },
    ROUNDS * 30_000,
  )

  it('is suspended and resumed by a caller, and counts as no live container meanwhile', async () => {
    const { id, tenant } = await withPrograms()
    const { table, queue, objects } = bench.storage
    const limits = createLimitReader(table.tenants, bench.deps.clock)
    const counts = createResourceCounts({ table, objects, limits, clock: bench.deps.clock })
    const ports = { table, queue, clock: bench.deps.clock, counts, canSuspend: true }
    const { id: sandboxId } = await sandboxOf(id)
    const signal = AbortSignal.timeout(60_000)
    const live = await countLive(table.sandboxes, tenant)
    const suspending = suspendContainer(ports, await bench.container(id), signal)
    await bench.hibernate(id)
    await place({ v: 1, type: 'sandbox.suspend', sandboxId })
    const suspended = await suspending
    expect(suspended).toEqual({ state: 'suspended', checkpointBytes: await countCheckpointBytes(table.sandboxes, tenant) })
    expect(await countLive(table.sandboxes, tenant)).toBe(live - 1)
    expect(await suspendContainer(ports, await bench.container(id), signal)).toEqual(suspended)
    const resuming = resumeContainer(ports, await bench.container(id), signal)
    await expect.poll(async () => (await sandboxOf(id)).state).toBe('starting')
    await place({ v: 1, type: 'sandbox.start', sandboxId })
    expect(await resuming).toEqual({ state: 'running', checkpointBytes: null })
    expect(isSuspended(await bench.container(id))).toBe(false)
    expect((await bench.run(id, LOOK)).result).toMatchObject({ stdout: 'True echo hello kept 1 True 1 5\n', lost: [] })
  })

  it('gets its variables and files from the snapshot if the checkpoint is gone, and names the loss once', async () => {
    const { id } = await withPrograms()
    await bench.run(id, 'open("kept.txt", "w").write("x")\nvalue = 42')
    const first = await suspend(id)
    await bench.placing.driver.stop(first.id)
    await bench.warm()
    const execution = await bench.accept(id, 'print(value, open("kept.txt").read())')
    await bench.step(id, execution)
    await place({ v: 1, type: 'sandbox.start', sandboxId: first.id })
    await bench.step(id, execution)
    const { result, sandboxId } = await bench.ended(execution)
    expect(result?.stdout).toBe('42 x\n')
    expect(sandboxId).not.toBe(first.id)
    expect(result?.lost).toContainEqual({ what: 'processes', reason: expect.stringContaining('could not be resumed') })
    expect((await bench.run(id, 'print(value)')).result).toMatchObject({ stdout: '42\n', lost: [] })
  })

  it('keeps its sandbox if the worker died after it had reserved it', async () => {
    const { id } = await withPrograms()
    const { id: sandboxId } = await sandboxOf(id)
    const { sandboxes } = bench.storage.table
    const reserved = await sandboxes.move(
      sandboxId,
      { from: ['claimed'] },
      { state: 'suspending', checkpoint: { id: 'x', bytes: 0, takenAt: 0 } },
    )
    const waiting = await bench.accept(id, LOOK)
    await bench.step(id, waiting)
    expect(await bench.storage.table.executions.get(bench.tenant, waiting)).toMatchObject({ status: 'starting' })
    if (reserved === null) throw new Error('The sandbox was not reserved')
    await repairSandbox(bench.placing, reserved, () => bench.placing.driver.inspect(sandboxId))
    await bench.step(id, waiting)
    expect((await bench.ended(waiting)).result?.stdout).toBe('True echo hello kept 1 True 1 5\n')
  })

  it('is suspended by the reconciler if the message was lost, and by two messages once', async () => {
    const { id } = await withPrograms()
    await bench.hibernate(id)
    const reserved = await sandboxOf(id)
    expect(reserved.state).toBe('suspending')
    const readStatus = () => bench.placing.driver.inspect(reserved.id)
    await Promise.all([
      repairSandbox(bench.placing, reserved, readStatus),
      place({ v: 1, type: 'sandbox.suspend', sandboxId: reserved.id }),
    ])
    expect((await sandboxOf(id)).state).toBe('suspended')
    const resumed = await runResumed(id, LOOK)
    expect(resumed.result).toMatchObject({ stdout: 'True echo hello kept 1 True 1 5\n', lost: [] })
    // A late repetition of the message changes nothing.
    await place({ v: 1, type: 'sandbox.suspend', sandboxId: reserved.id })
    expect((await bench.run(id, 'print(next(generator))')).result).toMatchObject({ stdout: '2\n', lost: [] })
  })
})

describe('a worker that crashes', () => {
  it('while it reserves the sandbox loses no process, and the code runs once', async () => {
    const { id } = await withPrograms()
    const calls = ['containers.claimHibernation', 'sandboxes.move', 'containers.hibernate', 'queue.send', 'containers.endHibernation']
    for (const [round, { at, when }] of crashes(calls).entries()) {
      const worker = crashingWorker(bench.storage, at, when)
      await bench.hibernate(id, worker.deps).catch(() => undefined)
      expect([at, worker.hasCrashed]).toEqual([at, true])
      bench.ahead += LEASE_MS + 1_000
      const { status, result } = await drive(id, await bench.accept(id, 'print(next(generator))'))
      expect([at, when, status, result?.stdout, result?.lost]).toEqual([at, when, 'succeeded', `${round + 1}\n`, []])
    }
  }, 240_000)

  it.each([
    { during: 'a checkpoint', calls: ['usage.put', 'sandboxes.move'] },
    { during: 'a resumption', calls: ['sandboxes.move', 'containers.endRestore'] },
  ])(
    'during $during loses no process, and the code runs once',
    async ({ during, calls }) => {
      const { id } = await withPrograms()
      const { id: sandboxId } = await sandboxOf(id)
      for (const [round, { at, when }] of crashes(calls).entries()) {
        const worker = crashingWorker(bench.storage, at, when)
        const crashing = createPlaceStep({ ...bench.placing, ...worker.deps }, createPool(bench.placing))
        let execution: string | null = null
        if (during === 'a checkpoint') {
          await bench.hibernate(id)
          await crashing({ v: 1, type: 'sandbox.suspend', sandboxId }).catch(() => undefined)
        } else {
          await suspend(id)
          execution = await bench.accept(id, 'print(next(generator))')
          await bench.step(id, execution)
          await crashing({ v: 1, type: 'sandbox.start', sandboxId }).catch(() => undefined)
        }
        expect([at, worker.hasCrashed]).toEqual([at, true])
        const { status, result } = await drive(id, execution ?? (await bench.accept(id, 'print(next(generator))')))
        expect([at, when, status, result?.stdout, result?.lost]).toEqual([at, when, 'succeeded', `${round + 1}\n`, []])
      }
    },
    240_000,
  )
})
