import { afterAll, beforeAll, expect, inject, it } from 'vitest'
import { startSuspendingBench, type SuspendingBench } from './suspending-bench.ts'

let suspending: SuspendingBench
beforeAll(async () => {
  suspending = await startSuspendingBench({ image: inject('sandboxImage'), driver: () => ({ preload: ['numpy', 'pandas'] }) })
}, 900_000)
afterAll(() => suspending.bench.stop())

const LOOK = `import sys
anonymous = next(int(line.split()[1]) for line in open("/proc/meminfo") if line.startswith("AnonPages:"))
print("pandas" in sys.modules, anonymous * 1024 // 1_000_000)`

it('has the modules of a warm sandbox in memory once: a fork would copy them', async () => {
  const { bench } = suspending
  await bench.warm()
  const { id } = await bench.newContainer()
  const { result } = await bench.run(id, LOOK)
  const [isImported, megabytes] = (result?.stdout ?? '').trim().split(' ')
  expect(isImported).toBe('True')
  expect(Number(megabytes)).toBeLessThan(120)
}, 120_000)
