import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { isSuspended } from '../../services/model/containers/container.ts'
import { startForkingBench, type ForkingBench } from './forking-bench.ts'

let forking: ForkingBench
beforeAll(async () => {
  forking = await startForkingBench({ image: inject('sandboxImage') })
}, 900_000)
afterAll(() => forking.bench.stop())

describe('copies on gVisor', () => {
  it('continue the processes of the source, each on its own, and the source continues', async () => {
    const source = await forking.withState(`
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
    const copies = await forking.fork(source, 2)
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
      const { stdout, lost, sandboxId } = await forking.run(container, look)
      expect([stdout, lost]).toEqual(['True 1 1 begun x\n', []])
      sandboxes.add(sandboxId)
    }
    expect(sandboxes.size).toBe(3)
    expect(sandboxes).toContain(source.sandboxId)
    for (const container of [...copies, source]) expect((await forking.run(container, 'print(next(generator))')).stdout).toBe('2\n')
  }, 120_000)

  it('have the variables and files if the checkpoint cannot be copied, and name the loss', async () => {
    const source = await forking.withState('value = 42\nopen("kept.txt", "w").write("x")')
    const [copy] = await forking.fork(source, 1)
    if (copy === undefined || copy.sandboxId === null) throw new Error('There is no copy')
    await forking.bench.placing.driver.stop(copy.sandboxId)
    await forking.bench.warm()
    const execution = await forking.bench.accept(copy.id, 'print(value, open("kept.txt").read())')
    await forking.bench.step(copy.id, execution)
    await forking.suspending.place({ v: 1, type: 'sandbox.start', sandboxId: copy.sandboxId })
    await forking.bench.step(copy.id, execution)
    const { result } = await forking.bench.ended(execution)
    expect(result?.stdout).toBe('42 x\n')
    expect(result?.lost.map(({ what }) => what)).toContain('processes')
  }, 120_000)

  it('of a suspended container leave it suspended, and can be suspended and copied themselves', async () => {
    const source = await forking.withState('generator = (number for number in range(100))\nnext(generator)')
    await forking.suspending.suspend(source.id)
    const [copy] = await forking.fork(await forking.bench.container(source.id), 1)
    expect(isSuspended(await forking.bench.container(source.id))).toBe(true)
    if (copy === undefined) throw new Error('There is no copy')
    expect((await forking.run(copy, 'print(next(generator))')).stdout).toBe('1\n')
    await forking.suspending.suspend(copy.id)
    const [second] = await forking.fork(await forking.bench.container(copy.id), 1)
    if (second === undefined) throw new Error('There is no copy of the copy')
    expect((await forking.run(second, 'print(next(generator))')).stdout).toBe('2\n')
    expect((await forking.run(source, 'print(next(generator))')).stdout).toBe('1\n')
  }, 120_000)
})
