import { forkContainer } from '../../../services/operations/containers/fork-container.ts'
import { createLimitReader } from '../../../services/operations/tenancy/limit-reader.ts'
import { createResourceCounts } from '../../../services/operations/tenancy/resource-counts.ts'
import type { Container } from '../../../services/model/containers/container.ts'
import { newId } from '../../../services/model/ids.ts'
import type { Job } from '../history.ts'
import { killablePorts, type KillablePorts, type Ports } from '../harness/killable-ports.ts'
import { createWorker } from '../harness/worker.ts'
import { deliverAll, settle, sweep } from './settle.ts'
import type { Scenario } from './scenario.ts'
import { prepare, startFixture, type Fixture } from './worker-crashes.ts'

const COPIES = 2
/** The short form tests every nth call. */
const SHORT_STEP = 9
/** Longer than an unpublished copy may exist. */
const OVER_MS = 600_000
const MAX_ROUNDS = 20

/** Which process is killed: the one that copies, or the worker that saves variables and writes checkpoints for it. */
const VICTIMS = ['api', 'worker'] as const
type Victim = (typeof VICTIMS)[number]

interface Kill {
  readonly victim: Victim
  readonly at: number
  readonly when: 'before' | 'after'
}

/** Copies a container that has run a job, and kills one process at its nth call. False: it made fewer calls. Failures are added to the list. */
async function crashFork(fixture: Fixture, { victim, at, when }: Kill, failures: string[]): Promise<boolean> {
  const { harness, healthy, clockOffset, clock, finished } = fixture
  const container = await harness.newContainer()
  const first = await harness.accept(container, { now: clock.now() })
  await settle(harness, healthy, clockOffset, [first])
  await harness.observe(first)
  const name = `${victim}-${when}-${at}`
  const killable = killablePorts(harness.manualPorts, at, when, (verb) => {
    harness.history.add({ type: 'killed', worker: name, at: verb })
  })
  const copies = Array.from({ length: COPIES }, () => ({ id: newId('container'), name: 'copy' }))
  for (const { id } of copies) harness.history.add({ type: 'forked', source: container.id, copy: id })
  await fork(fixture, { container, copies, victim, killable })
  if (killable.isKilled) await pass(fixture)
  const rows = await Promise.all(copies.map(({ id }) => harness.reliablePorts.table.containers.get(container.tenant, id)))
  const visible = rows.filter((row) => row !== null).filter((row) => row.deletedAt === null)
  if (rows.some((row) => row !== null && row.deletedAt !== null)) failures.push(`${name}: an incomplete copy remains`)
  if (!killable.isKilled && visible.length !== COPIES) failures.push(`${name}: ${visible.length} copies without a kill`)
  failures.push(...(await runIn(fixture, [container, ...visible], { name, first })))
  finished.push(container, ...visible)
  await sweep(harness, healthy, clockOffset, finished.splice(0))
  return killable.isKilled
}

async function fork(
  { harness, healthy, clock }: Fixture,
  {
    container,
    copies,
    victim,
    killable,
  }: {
    readonly container: Container
    readonly copies: readonly { readonly id: string; readonly name: string }[]
    readonly victim: Victim
    readonly killable: KillablePorts
  },
): Promise<void> {
  const ports: Ports = victim === 'api' ? killable.ports : harness.manualPorts
  const limits = createLimitReader(ports.table.tenants, clock)
  const counts = createResourceCounts({ table: ports.table, objects: ports.objects, limits, clock })
  const row = await harness.reliablePorts.table.containers.get(container.tenant, container.id)
  const over = new AbortController()
  let isOver = false
  const forking = forkContainer({ ...ports, clock, counts }, row ?? container, { wanted: copies, signal: over.signal })
    .catch(() => undefined)
    .finally(() => void (isOver = true))
  const worker = victim === 'api' ? healthy : createWorker({ name: 'victim', ports: killable.ports, history: harness.history, clock })
  while (!isOver) {
    const message = harness.manualQueue.receive()
    if (message === undefined) await new Promise((resolve) => setTimeout(resolve, 2))
    else {
      const handled = await Promise.race([
        worker.handle(message).then(
          () => true,
          () => false,
        ),
        killable.killed.then(() => false),
      ])
      if (!handled) harness.manualQueue.messages.push(message)
    }
    if (victim === 'worker' && killable.isKilled) over.abort()
    if (victim === 'worker' && killable.isKilled) break
  }
  if (!isOver) await deliverUntil({ harness, healthy }, () => isOver)
  await forking
}

/** Another worker takes over. */
async function deliverUntil({ harness, healthy }: Pick<Fixture, 'harness' | 'healthy'>, isOver: () => boolean): Promise<void> {
  while (!isOver()) {
    await deliverAll(harness, healthy)
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
}

/** Time passes until the reconciler has removed or repaired what the kill left. */
async function pass({ harness, healthy, clockOffset }: Fixture): Promise<void> {
  clockOffset.ms += OVER_MS
  for (let round = 0; round < MAX_ROUNDS; round++) {
    await healthy.reconcile()
    await deliverAll(harness, healthy)
    if (harness.manualQueue.messages.length === 0 && round > 2) return
    clockOffset.ms += 31_000
  }
}

/** A job in each container: its kernel must have what the first job left. */
async function runIn(
  { harness, healthy, clockOffset, clock }: Fixture,
  containers: readonly Container[],
  { name, first }: { readonly name: string; readonly first: Job },
): Promise<readonly string[]> {
  const failures: string[] = []
  const jobs = []
  for (const container of containers) jobs.push(await harness.accept(container, { now: clock.now(), file: false }))
  await settle(harness, healthy, clockOffset, jobs)
  for (const job of jobs) {
    await harness.observe(job)
    if (!(await markersIn(harness, job)).includes(first.marker)) failures.push(`${name}: the variables of ${first.execution} are lost`)
    const files = await harness.reliablePorts.table.files.all(job.tenant, job.container)
    if (!files.some(({ path, isCurrent }) => isCurrent && path === first.file))
      failures.push(`${name}: the file of ${first.execution} is lost`)
  }
  return failures
}

/** The variables of a container, which may have gone to sleep meanwhile. */
async function markersIn({ reliablePorts, platform }: Fixture['harness'], { tenant, container }: Job): Promise<readonly string[]> {
  const row = await reliablePorts.table.containers.get(tenant, container)
  const sandboxId = row?.sandboxId ?? ''
  const sandbox = platform.alive.get(sandboxId) ?? platform.suspended.get(sandboxId)?.sandbox
  if (sandbox !== undefined) return sandbox.kernel.markers
  const stored = await reliablePorts.objects.get(row?.snapshot?.objectKey ?? '')
  const parts: Uint8Array[] = []
  for await (const part of stored?.body ?? []) parts.push(part)
  return parts.length === 0 ? [] : (JSON.parse(Buffer.concat(parts).toString()) as { readonly markers: readonly string[] }).markers
}

/** Kills the API or a worker before and after each of their calls while a container is copied, on platforms that keep processes and that keep none. */
export const forks: Scenario = {
  name: 'forks',
  thresholds: ['D-30'],
  async run({ scale, log }) {
    const step = scale < 0.1 ? SHORT_STEP : 1
    const histories = []
    const failures: string[] = []
    let kills = 0
    for (const canSuspend of [true, false]) {
      const fixture = await startFixture({ canSuspend })
      try {
        await prepare(fixture, 'warm')
        for (const victim of VICTIMS)
          for (const when of ['before', 'after'] as const)
            for (
              let at = when === 'before' ? 0 : Math.floor(step / 2);
              await crashFork(fixture, { victim, at, when }, failures);
              at += step
            )
              kills++
        const { history, platform } = fixture.harness
        histories.push(history)
        const warm = 1
        const orphans = platform.alive.size + platform.suspended.size - warm
        if (orphans > 0) failures.push(`${orphans} sandboxes or checkpoints remain`)
      } finally {
        await fixture.harness.stop()
      }
    }
    log(`forks: ${kills} kills`)
    return { histories, failures, figures: { fork_kills: kills } }
  },
}
