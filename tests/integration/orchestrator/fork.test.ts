import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import type { Container } from '../../../services/model/containers/container.ts'
import { newId } from '../../../services/model/ids.ts'
import { forkContainer } from '../../../services/operations/containers/fork-container.ts'
import { createLimitReader } from '../../../services/operations/tenancy/limit-reader.ts'
import { createResourceCounts } from '../../../services/operations/tenancy/resource-counts.ts'
import { createRunStep } from '../../../services/workers/run/step/run-step.ts'
import { startRunBench, type RunBench } from '../../support/run-bench.ts'

let bench: RunBench
beforeAll(async () => {
  bench = await startRunBench({ image: inject('sandboxImage'), stage: `fork-test-${process.pid}` })
})
afterAll(() => bench.stop())

async function withState(code: string): Promise<Container> {
  const { id } = await bench.newContainer()
  await bench.warm()
  expect(await bench.run(id, code)).toMatchObject({ status: 'succeeded' })
  return bench.container(id)
}

/** As the API and a worker do it together. */
async function fork(source: Container, count: number): Promise<readonly Container[]> {
  const { table, objects, queue } = bench.storage
  const { clock } = bench.deps
  const counts = createResourceCounts({ table, objects, limits: createLimitReader(table.tenants, clock), clock })
  const wanted = Array.from({ length: count }, () => ({ id: newId('container'), name: 'copy' }))
  const forking = forkContainer({ table, objects, queue, clock, counts }, source, { wanted, signal: AbortSignal.timeout(50_000) })
  const { tenant, id: containerId, lastActiveAt: idleSince } = source
  await createRunStep(bench.deps)({ v: 1, type: 'container.hibernate', tenant, containerId, idleSince, isForCopy: true })
  return forking
}

async function run({ id }: Container, code: string) {
  await bench.warm()
  const { result } = await bench.run(id, code)
  return { stdout: result?.stdout, lost: result?.lost.map(({ what }) => what) }
}

const RANDOM =
  'import random, uuid, secrets, ssl, numpy\nprint(random.random(), numpy.random.random(), uuid.uuid4(), secrets.token_hex(8), ssl.RAND_bytes(8).hex())'

describe('copies of a container whose sandbox runs', () => {
  it('have its variables and files, and the source continues with its threads', async () => {
    const source = await withState(`
import threading, time
ticks, value = 0, [42]
def tick():
    global ticks
    while True:
        ticks += 1
        time.sleep(0.01)
threading.Thread(target=tick, daemon=True).start()
open("kept.txt", "w").write("x")`)
    const [one, two] = await fork(source, 2)
    if (one === undefined || two === undefined) throw new Error('There are not two copies')
    const first = await run(one, 'value.append(1); open("kept.txt", "a").write("1"); print(value, open("kept.txt").read())')
    expect(first.stdout).toBe('[42, 1] x1\n')
    expect(first.lost).toContainEqual(expect.stringContaining('thread'))
    expect((await run(two, 'print(value, open("kept.txt").read())')).stdout).toBe('[42] x\n')
    expect(await bench.container(source.id)).toMatchObject({ sandboxId: source.sandboxId })
    const after = await bench.run(source.id, 'before = ticks; time.sleep(0.1); print(value, ticks > before, open("kept.txt").read())')
    expect(after.result).toMatchObject({ stdout: '[42] True x\n', lost: [] })
    expect(after.sandboxId).toBe(source.sandboxId)
  })

  it('draw other random numbers than the source and than one another', async () => {
    const source = await withState('import random, numpy\nrandom.seed(1); numpy.random.seed(1)')
    const copies = await fork(source, 2)
    const drawn = await Promise.all(
      [...copies, source].map(async (container) => (await run(container, RANDOM)).stdout?.trim().split(' ') ?? []),
    )
    expect(drawn[0]).toHaveLength(5)
    for (let column = 0; column < 5; column++) expect(new Set(drawn.map((row) => row[column])).size).toBe(3)
  })

  it('continue their random numbers after a hibernation of the copy', async () => {
    const [copy] = await fork(await withState('import random\nrandom.seed(1)'), 1)
    if (copy === undefined) throw new Error('There is no copy')
    await run(copy, 'import random\nrandom.seed(5); expected = random.Random(5).random()')
    await bench.hibernate(copy.id)
    await bench.stopUnheld()
    expect((await run(copy, 'print(random.random() == expected)')).stdout).toBe('True\n')
  })

  it('are made from what was stored if the source was not used since', async () => {
    const source = await withState('value = 1')
    await fork(source, 1)
    const { snapshot } = await bench.container(source.id)
    const [copy] = await fork(await bench.container(source.id), 1)
    expect((await bench.container(source.id)).snapshot).toEqual(snapshot)
    expect(copy?.snapshot?.bytes).toBe(snapshot?.bytes)
    // The hibernation of the source replaces what was stored for copies.
    await bench.hibernate(source.id)
    expect(await bench.storage.objects.get(snapshot?.objectKey ?? '')).toBeNull()
    expect((await run(await bench.container(source.id), 'print(value)')).stdout).toBe('1\n')
  })
})
