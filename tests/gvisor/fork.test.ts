import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { isSuspended, type Container } from '../../services/model/containers/container.ts'
import type { ExecutionLanguage } from '../../services/model/executions/language.ts'
import { newId } from '../../services/model/ids.ts'
import { forkContainer } from '../../services/operations/containers/fork-container.ts'
import { createLimitReader } from '../../services/operations/tenancy/limit-reader.ts'
import { createResourceCounts } from '../../services/operations/tenancy/resource-counts.ts'
import { createRunStep } from '../../services/workers/run/step/run-step.ts'
import type { RunBench } from '../support/run-bench.ts'
import { startSuspendingBench, type SuspendingBench } from './suspending-bench.ts'

let suspending: SuspendingBench
let bench: RunBench
beforeAll(async () => {
  suspending = await startSuspendingBench({ image: inject('sandboxImage') })
  bench = suspending.bench
}, 900_000)
afterAll(() => bench.stop())

const POLL_MS = 10

async function withState(code: string): Promise<Container> {
  const { id } = await bench.newContainer()
  await bench.warm()
  expect(await bench.run(id, code)).toMatchObject({ status: 'succeeded' })
  return bench.container(id)
}

/** Places what waits for the place worker. */
async function placeWaiting(): Promise<void> {
  for (const { id: sandboxId, state, checkpoint } of await bench.storage.table.sandboxes.ofTenant(bench.tenant)) {
    if (state === 'suspending') await suspending.place({ v: 1, type: 'sandbox.suspend', sandboxId })
    if (state === 'starting' && checkpoint !== undefined) await suspending.place({ v: 1, type: 'sandbox.start', sandboxId })
  }
}

/** As the API and the workers do it together. */
async function fork(source: Container, count: number): Promise<readonly Container[]> {
  const { table, objects, queue } = bench.storage
  const { clock } = bench.deps
  const counts = createResourceCounts({ table, objects, limits: createLimitReader(table.tenants, clock), clock })
  const wanted = Array.from({ length: count }, () => ({ id: newId('container'), name: 'copy' }))
  let isOver = false
  const forking = forkContainer({ table, objects, queue, clock, counts }, source, { wanted, signal: AbortSignal.timeout(50_000) }).finally(
    () => void (isOver = true),
  )
  const { tenant, id: containerId, lastActiveAt: idleSince } = source
  await createRunStep(bench.deps)({ v: 1, type: 'container.hibernate', tenant, containerId, idleSince, isForCopy: true })
  while (!isOver) {
    await placeWaiting()
    await new Promise((resolve) => setTimeout(resolve, POLL_MS))
  }
  await placeWaiting()
  return forking
}

async function run({ id }: Container, code: string, language?: ExecutionLanguage) {
  const now = await bench.container(id)
  const { result, sandboxId } = isSuspended(now) ? await suspending.runResumed(id, code, language) : await bench.run(id, code, language)
  return { stdout: result?.stdout, lost: result?.lost.map(({ what }) => what), sandboxId }
}

describe('copies on gVisor', () => {
  it('continue the processes of the source, each on its own, and the source continues', async () => {
    const source = await withState(`
import subprocess, threading, time
ticks = 0
def tick():
    global ticks
    while True:
        ticks += 1
        time.sleep(0.01)
threading.Thread(target=tick, daemon=True).start()
shell = subprocess.Popen(["bash"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
shell.stdin.write("n=0\\n")
shell.stdin.flush()
log = open("log.txt", "w")
log.write("begun ")
generator = (number for number in range(100))
next(generator)`)
    const copies = await fork(source, 2)
    expect(copies.map(isSuspended)).toEqual([true, true])
    const look = `
before = ticks
time.sleep(0.1)
shell.stdin.write("n=$((n+1)); echo $n\\n")
shell.stdin.flush()
log.write("x"); log.flush()
print(ticks > before, shell.stdout.readline().strip(), next(generator), open("log.txt").read())`
    const sandboxes = new Set<string | null>()
    for (const container of [...copies, source]) {
      const { stdout, lost, sandboxId } = await run(container, look)
      expect([stdout, lost]).toEqual(['True 1 1 begun x\n', []])
      sandboxes.add(sandboxId)
    }
    expect(sandboxes.size).toBe(3)
    expect(sandboxes).toContain(source.sandboxId)
    for (const container of [...copies, source]) expect((await run(container, 'print(next(generator))')).stdout).toBe('2\n')
  }, 120_000)

  it('draw other random numbers in Python and bash than the source and than one another', async () => {
    const draws = `
import random, uuid, secrets, ssl
import numpy
print(random.random(), numpy.random.random(), uuid.uuid4(), secrets.token_hex(8), ssl.RAND_bytes(8).hex())`
    const source = await withState('import random, ssl, numpy\nrandom.seed(1); numpy.random.seed(1); ssl.RAND_bytes(1)')
    await bench.run(source.id, 'RANDOM=1', 'bash')
    const copies = await fork(await bench.container(source.id), 2)
    const drawn = []
    for (const container of [...copies, source]) {
      const python = (await run(container, draws)).stdout?.trim().split(' ') ?? []
      const bash = (await run(container, 'echo $RANDOM$RANDOM', 'bash')).stdout?.trim()
      drawn.push([...python, bash])
    }
    expect(drawn[0]).toHaveLength(6)
    for (let column = 0; column < 6; column++) expect([column, new Set(drawn.map((row) => row[column])).size]).toEqual([column, 3])
  }, 120_000)

  it('have the variables and files if the checkpoint cannot be copied, and name the loss', async () => {
    const source = await withState('value = 42\nopen("kept.txt", "w").write("x")')
    const [copy] = await fork(source, 1)
    if (copy === undefined || copy.sandboxId === null) throw new Error('There is no copy')
    await bench.placing.driver.stop(copy.sandboxId)
    await bench.warm()
    const execution = await bench.accept(copy.id, 'print(value, open("kept.txt").read())')
    await bench.step(copy.id, execution)
    await suspending.place({ v: 1, type: 'sandbox.start', sandboxId: copy.sandboxId })
    await bench.step(copy.id, execution)
    const { result } = await bench.ended(execution)
    expect(result?.stdout).toBe('42 x\n')
    expect(result?.lost.map(({ what }) => what)).toContain('processes')
  }, 120_000)

  it('of a suspended container leave it suspended, and can be suspended and copied themselves', async () => {
    const source = await withState('generator = (number for number in range(100))\nnext(generator)')
    await suspending.suspend(source.id)
    const [copy] = await fork(await bench.container(source.id), 1)
    expect(isSuspended(await bench.container(source.id))).toBe(true)
    if (copy === undefined) throw new Error('There is no copy')
    expect((await run(copy, 'print(next(generator))')).stdout).toBe('1\n')
    await suspending.suspend(copy.id)
    const [second] = await fork(await bench.container(copy.id), 1)
    if (second === undefined) throw new Error('There is no copy of the copy')
    expect((await run(second, 'print(next(generator))')).stdout).toBe('2\n')
    expect((await run(source, 'print(next(generator))')).stdout).toBe('1\n')
  }, 120_000)
})
