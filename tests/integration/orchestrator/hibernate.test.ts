import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { currentFiles } from '../../../services/operations/files/find-by-path.ts'
import { acceptExecution } from '../../../services/operations/executions/accept-execution.ts'
import { createLimitReader } from '../../../services/operations/tenancy/limit-reader.ts'
import type { Container } from '../../../services/model/containers/container.ts'
import { LEASE_MS } from '../../../services/jobs/lease.ts'
import { dayOf } from '../../../services/model/usage/usage.ts'
import { newId } from '../../../services/model/ids.ts'
import { executionRow } from '../../support/rows.ts'
import { objectPrefix } from '../../../services/model/object-keys.ts'
import { createRunStep } from '../../../services/workers/run/step/run-step.ts'
import { repairContainer } from '../../../services/workers/reconcile/repair-container.ts'
import { atCall } from '../../support/at-call.ts'
import { crashingWorker } from '../../support/crashing-worker.ts'
import { startRunBench, type RunBench } from '../../support/run-bench.ts'

let bench: RunBench
beforeAll(async () => {
  bench = await startRunBench({ image: inject('sandboxImage'), stage: `hibernate-test-${process.pid}` })
})
afterAll(() => bench.stop())

const names = (lost: readonly { readonly what: string }[] = []): string[] => lost.map(({ what }) => what)
/** A container with variables. */
async function withVariables(code = 'runs = ["first"]'): Promise<Container> {
  const container = await bench.newContainer()
  await bench.warm()
  const first = await bench.run(container.id, code)
  expect(first).toMatchObject({ status: 'succeeded', result: { lost: [] } })
  return container
}
/** The outcomes of hibernations so far. */
const outcomes = () => bench.events.filter((event) => event.event === 'hibernate').map((event) => event.outcome)
/** Removes all snapshots from the store and returns their number. */
const removeSnapshots = ({ tenant, id }: Container): Promise<number> =>
  bench.storage.objects.deletePrefix(`${objectPrefix(tenant, id)}snapshots/`)

describe('a hibernated container', () => {
  it('has its variables in the next sandbox and reports those that could not be saved', async () => {
    const { id } = await withVariables('x = [1]\ny = x\ngenerator = (i for i in x)\nopen("f.txt", "w").write("kept")')
    await bench.hibernate(id)
    const hibernated = await bench.container(id)
    expect(hibernated).toMatchObject({ sandboxId: null, hibernating: null, stateLost: null, snapshot: { isRestored: false, tries: 0 } })
    await bench.stopUnheld()
    await bench.warm()
    const second = await bench.run(id, 'print(x, y is x, "generator" in globals(), open("f.txt").read())')
    expect(second.result?.stdout).toBe('[1] True False kept\n')
    expect(names(second.result?.lost)).toEqual(['variable generator'])
    expect((await bench.run(id, 'print(x)')).result).toMatchObject({ stdout: '[1]\n', lost: [] })
  })

  it('left a sandbox that the platform took back, although it was used since', async () => {
    const { tenant, id } = await withVariables()
    const { sandboxId, lastActiveAt: idleSince } = await bench.container(id)
    await bench.run(id, 'runs.append("second")')
    const message = { v: 1, type: 'container.hibernate', tenant, containerId: id, idleSince } as const
    const receive = createRunStep(bench.deps)
    await receive({ ...message, sandboxId: newId('sandbox') })
    await receive(message)
    expect(await bench.container(id)).toMatchObject({ sandboxId })
    await receive({ ...message, sandboxId: sandboxId ?? 'none' })
    expect(await bench.container(id)).toMatchObject({ sandboxId: null, snapshot: { isRestored: false } })
    await bench.stopUnheld()
    await bench.warm()
    expect((await bench.run(id, 'print(runs)')).result?.stdout).toBe("['first', 'second']\n")
  })

  it('keeps files with several names, such as those of a cloned repository, and names in the form of a Mac', async () => {
    const { id } = await withVariables(
      'import os, unicodedata\nopen("report.txt", "w").write("x")\nopen(unicodedata.normalize("NFD", "Café.txt"), "w").write("mac")',
    )
    const linked = await bench.run(id, 'os.link("report.txt", "copy.txt")')
    expect([linked.result?.lost, linked.result?.files.map(({ path }) => path)]).toEqual([[], ['copy.txt']])
    const paths = async () => (await currentFiles(bench.storage, await bench.container(id))).map(({ path }) => path).toSorted()
    expect(await paths()).toEqual(['Café.txt', 'copy.txt', 'report.txt'])
    await bench.hibernate(id)
    await bench.stopUnheld()
    await bench.warm()
    const woken = await bench.run(
      id,
      'print(open("report.txt").read(), open("copy.txt").read(), open(unicodedata.normalize("NFD", "Café.txt")).read(), len(os.listdir()))',
    )
    expect(woken.result).toMatchObject({ stdout: 'x x mac 3\n', lost: [], files: [] })
  })

  it('names what was in its folder and is not kept, once, in the call that wakes it', async () => {
    const { id } = await withVariables()
    const code =
      'import os\nos.symlink("/etc", "link")\nos.mkfifo("pipe")\nos.makedirs("Acme Inc.")\nopen("Acme Inc./a.csv", "w").write("1")'
    const first = await bench.run(id, code)
    expect(names(first.result?.lost).toSorted()).toEqual(['file "Acme Inc./a.csv"', 'file "link"', 'file "pipe"'])
    expect((await bench.run(id, '1')).result?.lost).toEqual([])
    await bench.hibernate(id)
    await bench.stopUnheld()
    await bench.warm()
    const woken = await bench.run(id, 'print(sorted(os.listdir()), os.listdir("Acme Inc."))')
    // Folders and links are in the snapshot.
    expect(woken.result?.stdout).toBe("['Acme Inc.', 'link'] []\n")
    const gone = woken.result?.lost.filter(({ reason }) => reason.includes('was not kept'))
    expect(names(gone).toSorted()).toEqual(['file "Acme Inc./a.csv"', 'file "pipe"'])
    expect((await bench.run(id, '1')).result?.lost).toEqual([])
  })

  it('keeps what a program wrote after the code that started it had ended', async () => {
    const { id } = await withVariables('import subprocess\np = subprocess.Popen("sleep 1; echo late > late.txt", shell=True)')
    const { sandboxId } = await bench.container(id)
    const sandbox = await bench.storage.table.sandboxes.get(sandboxId ?? '')
    if (sandbox === null || sandbox.address === null) throw new Error('The container has no sandbox')
    const session = { sandboxId: sandbox.id, address: sandbox.address, privateKey: sandbox.privateKey }
    await expect
      .poll(async () => (await bench.deps.supervisor.listFiles(session)).files.map(({ bytes }) => bytes), { timeout: 30_000 })
      .toEqual([5])
    await bench.hibernate(id)
    await bench.stopUnheld()
    await bench.warm()
    expect((await bench.run(id, 'print(open("late.txt").read())')).result?.stdout).toBe('late\n\n')
  })

  it('does not restore a file that was removed after the code had ended, such as the journal of a database', async () => {
    const { id } = await withVariables(
      `import os
class Database:
  def __init__(self):
    open("rows.db", "w").write("old")
    open("rows.wal", "w").write("row")
  def __reduce__(self):
    if os.path.exists("/mnt/data/rows.wal"):
      open("/mnt/data/rows.db", "w").write("old row")
      os.remove("/mnt/data/rows.wal")
    return (str, ("connection",))
database = Database()`,
    )
    const paths = async () => (await currentFiles(bench.storage, await bench.container(id))).map(({ path }) => path).toSorted()
    expect(await paths()).toEqual(['rows.db', 'rows.wal'])
    await bench.hibernate(id)
    expect(await paths()).toEqual(['rows.db'])
    await bench.stopUnheld()
    await bench.warm()
    expect((await bench.run(id, 'print(database, sorted(os.listdir()), open("rows.db").read())')).result).toMatchObject({
      stdout: "connection ['rows.db'] old row\n",
      lost: [],
    })
  })

  it('ends a background command at once that no sandbox has received', async () => {
    const { tenant, id } = await withVariables()
    const commandId = newId('command')
    const source = { kind: 'command', argv: ['true'], stdin: null, hasOpenInput: false, pty: null, isBackground: true } as const
    await acceptExecution(bench.deps, { ...executionRow({ tenant, containerId: id, id: commandId }), source }, Date.now())
    await bench.hibernate(id)
    const command = await bench.storage.table.executions.get(tenant, commandId)
    expect(command).toMatchObject({ status: 'cancelled', reason: 'caller', endedAt: expect.any(Number) })
    expect(await bench.container(id)).toMatchObject({ backgroundCommands: [], lostCommands: [{ what: `command ${commandId}` }] })
  })

  it('saves variables within the processor time of an execution and names those that take longer', async () => {
    const { id } = await bench.newContainer({ cpuSeconds: 4 })
    await bench.warm()
    await bench.run(id, 'class Slow:\n    def __reduce__(self):\n        while True: pass\nslow = Slow()\nkept = 1')
    await bench.hibernate(id)
    await bench.stopUnheld()
    await bench.warm()
    const second = await bench.run(id, 'print(kept)')
    expect([second.result?.stdout, names(second.result?.lost)]).toEqual(['1\n', ['variable slow']])
    const saving = (await bench.storage.table.usage.ofDay(second.tenant, dayOf(Date.now()))).filter(({ purpose }) => purpose === 'saving')
    expect(Math.max(...saving.map(({ cpuMs }) => cpuMs))).toBeGreaterThan(1_000)
  })

  it('counts the restore of its variables against the limits and the usage of the execution that waits for it', async () => {
    const { id } = await bench.newContainer({ cpuSeconds: 10 })
    await bench.warm()
    const busy =
      'def busy():\n    import time\n    end = time.process_time() + 0.5\n    while time.process_time() < end: pass\n    return 1'
    await bench.run(id, `${busy}\nclass Busy:\n    def __reduce__(self): return (busy, ())\nbusy_value = Busy()`)
    await bench.hibernate(id)
    await bench.stopUnheld()
    await bench.warm()
    const second = await bench.run(id, 'print(busy_value)')
    expect([second.result?.stdout, second.result?.lost]).toEqual(['1\n', []])
    expect(second.result?.usage.cpuMs).toBeGreaterThan(500)
  })

  it('reports every variable as lost when its next sandbox is lost after code ran there', async () => {
    const { id } = await withVariables()
    await bench.hibernate(id)
    await bench.stopUnheld()
    await bench.warm()
    await bench.run(id, 'runs.append("second")')
    const { sandboxId, snapshot } = await bench.container(id)
    expect(snapshot).toMatchObject({ isRestored: true })
    await bench.placing.driver.stop(sandboxId ?? '')
    await bench.warm()
    const third = await bench.run(id, 'print("runs" in globals())')
    expect(third.result?.stdout).toBe('False\n')
    expect(names(third.result?.lost)).toEqual(['variables'])
  })

  it('loses nothing when the sandbox that restores it is lost before any code ran', async () => {
    const { id } = await withVariables()
    await bench.hibernate(id)
    await bench.stopUnheld()
    await bench.warm()
    const [candidate] = await bench.storage.table.sandboxes.ready('1g', 1)
    await bench.placing.driver.stop(candidate?.id ?? '')
    await bench.warm()
    expect((await bench.run(id, 'print(runs)')).result).toMatchObject({ stdout: "['first']\n", lost: [] })
  })

  it('reports lost variables when the kernel died before they were saved', async () => {
    const { id } = await withVariables(
      'import os, threading\nx = 1\ndef die():\n  open("dead", "w").close()\n  os._exit(1)\nthreading.Timer(0.3, die).start()',
    )
    const { sandboxId } = await bench.container(id)
    const sandbox = await bench.storage.table.sandboxes.get(sandboxId ?? '')
    if (sandbox === null || sandbox.address === null) throw new Error('The container has no sandbox')
    const session = { sandboxId: sandbox.id, address: sandbox.address, privateKey: sandbox.privateKey }
    const paths = async () => (await bench.deps.supervisor.listFiles(session)).files.map((file) => file.path)
    await expect.poll(paths, { timeout: 30_000 }).toEqual(['dead'])
    await bench.hibernate(id)
    await bench.stopUnheld()
    await bench.warm()
    const next = await bench.run(id, 'print("x" in globals())')
    expect(next.result?.stdout).toBe('False\n')
    expect(names(next.result?.lost)).toEqual(['variables'])
  })

  it('removes each snapshot when the next one is saved, and the last one with the container', async () => {
    const container = await withVariables()
    const keys = new Set<string>()
    for (let round = 0; round < 2; round++) {
      await bench.hibernate(container.id)
      const { snapshot } = await bench.container(container.id)
      keys.add(snapshot?.objectKey ?? '')
      await bench.stopUnheld()
      await bench.warm()
      await bench.run(container.id, 'pass')
    }
    await bench.hibernate(container.id)
    const { snapshot } = await bench.container(container.id)
    for (const key of keys) expect(await bench.storage.objects.head(key)).toBeNull()
    expect(await bench.storage.objects.head(snapshot?.objectKey ?? '')).not.toBeNull()
    await bench.storage.table.containers.markDeleted(container.tenant, container.id, Date.now())
    const limits = createLimitReader(bench.storage.table.tenants, bench.placing.clock)
    await repairContainer({ ...bench.placing, limits }, { kind: 'container', tenant: container.tenant, id: container.id, dueAt: 0 })
    expect(await bench.storage.objects.head(snapshot?.objectKey ?? '')).toBeNull()
    expect(await removeSnapshots(container)).toBe(0)
  })
})

describe('an execution that arrives during hibernation', () => {
  it('finds every variable, at every stage of the hibernation', async () => {
    const { id } = await withVariables()
    for (let number = 0; ; number++) {
      if ((await bench.storage.table.sandboxes.ready('1g', 1)).length === 0) await bench.warm()
      let execution = ''
      const { ports, calls } = atCall(bench.storage, number, async () => {
        execution = await bench.accept(id, `runs.append(${number}); print(len(runs))`)
        await bench.step(id, execution)
      })
      await bench.hibernate(id, ports)
      const at = calls[number]
      if (at === undefined) break
      // The message at the end of the hibernation.
      await bench.step(id, execution)
      const { status, result } = await bench.ended(execution)
      expect([at, status, result?.stdout, result?.lost]).toEqual([at, 'succeeded', `${number + 2}\n`, []])
      await bench.stopUnheld()
    }
    expect(outcomes()).toEqual(expect.arrayContaining(['interrupted', 'saved']))
  }, 120_000)
})

/** Undoes `hibernate`, as if the container had been restored to the sandbox that still has its variables. */
async function undo({ tenant, id }: Container, sandboxId: string | null): Promise<void> {
  const { containers } = bench.storage.table
  const { generation, snapshot } = await bench.container(id)
  await containers.setSandbox(tenant, id, { generation, sandboxId, stateLost: null, dueAt: null })
  await containers.endRestore(tenant, id, { generation: generation + 1, objectKey: snapshot?.objectKey ?? '' })
}

describe('a worker that crashes', () => {
  it.each(['before', 'after'] as const)(
    '%s any call while it saves variables is followed by one that saves them',
    async (when) => {
      const container = await withVariables()
      const { sandboxId } = await bench.container(container.id)
      for (let number = 0; ; number++) {
        const worker = crashingWorker(bench.storage, number, when)
        await bench.hibernate(container.id, worker.deps).catch(() => undefined)
        const at = worker.calls[number]
        bench.ahead += LEASE_MS + 1_000
        await bench.hibernate(container.id)
        const row = await bench.container(container.id)
        expect([at, row.sandboxId, row.hibernating, row.stateLost, row.snapshot?.isRestored]).toEqual([at, null, null, null, false])
        const stored = await bench.storage.objects.head(row.snapshot?.objectKey ?? '')
        expect([at, stored?.bytes]).toEqual([at, row.snapshot?.bytes])
        if (!worker.hasCrashed) break
        await undo(container, sandboxId)
      }
      await bench.stopUnheld()
      await bench.warm()
      expect((await bench.run(container.id, 'print(runs)')).result).toMatchObject({ stdout: "['first']\n", lost: [] })
      // Only the last snapshot remains; those of the crashed workers are gone.
      expect(await removeSnapshots(container)).toBe(1)
    },
    120_000,
  )

  it('while it restores a container loses nothing, and the code runs once', async () => {
    const { id } = await withVariables()
    const hibernated = async () => {
      await bench.hibernate(id)
      await bench.stopUnheld()
      await bench.warm()
    }
    // The calls of the restore itself; the chaos suite covers the other calls.
    const calls = ['sandboxes.claim', 'containers.beginRestore', 'objects.get', 'executions.commit', 'containers.endRestore']
    for (const [round, at] of calls.entries()) {
      await hibernated()
      const execution = await bench.accept(id, `runs.append(${round}); print(len(runs))`)
      const worker = crashingWorker(bench.storage, at, 'before')
      await bench.step(id, execution, worker.deps).catch(() => undefined)
      expect([at, worker.hasCrashed]).toEqual([at, true])
      bench.ahead += LEASE_MS + 1_000
      await bench.stopUnheld()
      const isBare = (await bench.container(id)).sandboxId === null
      if (isBare && (await bench.storage.table.sandboxes.ready('1g', 1)).length === 0) await bench.warm()
      await bench.step(id, execution)
      await bench.step(id, execution)
      const { status, result } = await bench.ended(execution)
      expect([at, status, result?.stdout, result?.lost]).toEqual([at, 'succeeded', `${round + 2}\n`, []])
    }
  }, 240_000)
})
