import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startReadySandbox, type TestSandbox } from './start-sandbox.ts'

let from: TestSandbox
let to: TestSandbox
beforeAll(async () => void ([from, to] = await Promise.all([startReadySandbox(), startReadySandbox()])))
afterAll(() => Promise.all([from[Symbol.asyncDispose](), to[Symbol.asyncDispose]()]))

const SETUP = `
import math as m, numpy as np, pandas as pd, threading
from collections import Counter
items = [1, 2]
same = items
frame = pd.DataFrame({"a": np.arange(100_000)})
same_frame = frame
factor = 5
def scale(x): return x * factor
class Box:
    def __init__(self): self.inside = items
    def scaled(self): return scale(2)
box = Box()
boxes = {"one": box}
generator = (i for i in range(3))
lock = threading.Lock(); lock.acquire()
_private = "kept"
`

interface Restored {
  readonly restored: number
  readonly lost: readonly { readonly what: string; readonly reason: string }[]
}

describe('a namespace', () => {
  let snapshot: Buffer
  beforeAll(async () => {
    expect((await from.supervisor.run(SETUP)).done.outcome).toBe('ok')
    const answer = await from.supervisor.call('POST', '/snapshot')
    expect(answer.status).toBe(200)
    expect((JSON.parse(answer.trailers['cellblock-lost'] ?? 'null') as Restored['lost']).map((entry) => entry.what).toSorted()).toEqual([
      'generator',
      'lock',
    ])
    snapshot = answer.body
  })

  it('is restored in another sandbox: values, functions, classes, imports', async () => {
    const restored = JSON.parse((await to.supervisor.call('POST', '/restore', snapshot)).body.toString()) as Restored
    expect(restored.lost.map((entry) => entry.what).toSorted()).toEqual(['generator', 'lock'])
    expect(restored.lost.every((entry) => entry.reason.length > 0)).toBe(true)
    const run = await to.supervisor.run(
      'print(items, len(frame), scale(2), box.scaled(), m.pi > 3, Counter("aa"), _private, isinstance(box, Box))',
    )
    expect(run.stdout).toBe("[1, 2] 100000 10 10 True Counter({'a': 2}) kept True\n")
  })

  it('keeps shared objects shared', async () => {
    const run = await to.supervisor.run('print(items is same, frame is same_frame, box.inside is items, boxes["one"] is box)')
    expect(run.stdout).toBe('True True True True\n')
  })

  it('lets restored functions see the new namespace', async () => {
    expect((await to.supervisor.run('factor = 7\nprint(scale(2), box.scaled())')).stdout).toBe('14 14\n')
  })

  it('gives writable arrays back', async () => {
    expect((await to.supervisor.run('frame.iloc[0, 0] = 9\nprint(same_frame.iloc[0, 0])')).stdout).toBe('9\n')
  })

  it('continues the execution count', async () => {
    const before = (await from.supervisor.run('1')).of('cell_started')[0]?.['execution_count'] as number
    const answer = await from.supervisor.call('POST', '/snapshot')
    await to.supervisor.call('POST', '/restore', answer.body)
    expect((await to.supervisor.run('1')).of('cell_started')[0]?.['execution_count']).toBe(before + 1)
  })
})

describe('a snapshot that cannot be used', () => {
  it.each([
    ['garbage', Buffer.from('garbage'.repeat(1000))],
    ['another format', Buffer.from('{"format":"other","v":1}\n')],
    ['a later version', Buffer.from('{"format":"cellblock-namespace","v":2}\n')],
  ])('(%s) is refused, and the kernel keeps working', async (_name, body) => {
    await to.supervisor.run('here = 1')
    expect((await to.supervisor.call('POST', '/restore', body)).status).toBe(400)
    expect((await to.supervisor.run('print(here)')).stdout).toBe('1\n')
  })

  it('(one that ends early) is refused, and the kernel keeps working', async () => {
    await from.supervisor.run('big = "x" * 1_000_000')
    const { body } = await from.supervisor.call('POST', '/snapshot')
    expect((await to.supervisor.call('POST', '/restore', body.subarray(0, body.length / 2))).status).toBe(400)
    expect((await to.supervisor.run('print(1)')).stdout).toBe('1\n')
  })

  it('(one whose pickle ends the kernel) is refused, and a new kernel works', async () => {
    await from.supervisor.run('class Trap:\n    def __reduce__(self): import os; return (os._exit, (3,))\nbig = 0\ntrap = Trap()')
    const { body } = await from.supervisor.call('POST', '/snapshot')
    expect((await to.supervisor.call('POST', '/restore', body)).status).toBe(400)
    expect((await to.supervisor.run('print(1)')).stdout).toBe('1\n')
  })
})

describe('a snapshot whose reader disconnects', () => {
  it('does not affect the kernel, and executions are accepted again', { timeout: 180_000 }, async () => {
    await from.supervisor.run('import numpy\nlarge = numpy.ones(6_000_000)\nstays = 1')
    const { kernel_generation: generation } = await from.supervisor.health()
    const answer = await from.supervisor.open('POST', '/snapshot')
    await answer.body[Symbol.asyncIterator]().next()
    answer.body.destroy()
    // The namespace is busy until the kernel has come to the end of the snapshot, and on a loaded machine 48 MB take more than half a minute.
    await expect.poll(async () => (await from.supervisor.call('POST', '/snapshot')).status, { timeout: 120_000 }).toBe(200)
    expect((await from.supervisor.run('print(stays, len(large))')).stdout).toBe('1 6000000\n')
    expect((await from.supervisor.health()).kernel_generation).toBe(generation)
  })
})

describe('a restore that is for an unused sandbox only', () => {
  it('may be repeated until code has run, and is refused from then on', async () => {
    await from.supervisor.run('del trap\nvalue = "old"')
    const { body } = await from.supervisor.call('POST', '/snapshot')
    await using fresh = await startReadySandbox()
    for (let time = 0; time < 2; time++) expect((await fresh.supervisor.call('POST', '/restore?unused=1', body)).status).toBe(200)
    expect((await fresh.supervisor.run('print(value)\nvalue = "new"')).stdout).toBe('old\n')
    expect((await fresh.supervisor.call('POST', '/restore?unused=1', Buffer.from('{}'))).status).toBe(409)
    expect((await fresh.supervisor.run('print(value)')).stdout).toBe('new\n')
  })
})

describe('a kernel that died when no code ran', () => {
  it('is reported in the snapshot of the next one', async () => {
    await using fresh = await startReadySandbox()
    await fresh.supervisor.run('import os, threading\nthreading.Timer(0.2, os._exit, [1]).start()')
    await expect.poll(async () => (await fresh.supervisor.health()).kernel_generation, { timeout: 20_000 }).toBe(2)
    const answer = await fresh.supervisor.call('POST', '/snapshot')
    expect(JSON.parse(answer.trailers['cellblock-lost'] ?? '[]')).toEqual([{ what: '*', reason: 'kernel_died' }])
  })
})

describe('user code that runs while variables are saved or restored', () => {
  const SLOW = 'import time\nclass Slow:\n    def __reduce__(self): time.sleep(60); return (int, ())\nslow = Slow()\nkept = "kept"'
  const RESISTANT = `
class Resistant:
    def __reduce__(self):
        while True:
            try:
                while True: pass
            except BaseException: pass
resistant = Resistant()`

  it('is interrupted at the time limit: the slow variable is lost, the others are kept', async () => {
    await using fresh = await startReadySandbox({ limits: { preload: [] } })
    await fresh.supervisor.run(SLOW)
    const answer = await fresh.supervisor.call('POST', '/snapshot?timeout_ms=4000')
    const lost = JSON.parse(answer.trailers['cellblock-lost'] ?? '[]') as Restored['lost']
    expect(lost).toEqual([{ what: 'slow', reason: expect.stringContaining('the time limit for saving and restoring variables') as string }])
    const usage = JSON.parse(answer.trailers['cellblock-usage'] ?? '{}') as { readonly run_ms: number; readonly cpu_ms: number }
    expect(usage.run_ms).toBeGreaterThan(100)
    expect(usage.run_ms).toBeLessThan(4000)
    expect(usage.cpu_ms).toBeGreaterThan(0)
    expect((await fresh.supervisor.run('print(kept)')).stdout).toBe('kept\n')
  })

  it('is killed at the limit of its processor time when it cannot be interrupted, and the next execution works', async () => {
    await using fresh = await startReadySandbox({ limits: { preload: [] } })
    await fresh.supervisor.run(RESISTANT)
    await expect(fresh.supervisor.call('POST', '/snapshot?timeout_ms=60000&cpu_ms=1000')).rejects.toThrow()
    const next = await fresh.supervisor.run('print("fine")')
    expect([next.stdout, next.done.state_lost]).toEqual(['fine\n', { reason: 'kernel_died' }])
  })

  it('ends a restore at its time limit and reports it', async () => {
    await using fresh = await startReadySandbox({ limits: { preload: [] } })
    await fresh.supervisor.run(
      'import signal, time\ndef stay():\n    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGALRM})\n    time.sleep(60)\nclass Stays:\n    def __reduce__(self): return (stay, ())\nstays = Stays()',
    )
    const { body } = await fresh.supervisor.call('POST', '/snapshot')
    await using other = await startReadySandbox({ limits: { preload: [] } })
    const answer = await other.supervisor.call('POST', '/restore?timeout_ms=1500', body)
    expect([answer.status, answer.body.toString()]).toEqual([400, expect.stringContaining('longer than its limit of 1500 ms')])
    expect((await other.supervisor.run('print("fine")')).stdout).toBe('fine\n')
  })

  it('may fork: the children end, and the kernel saves and restores every variable', async () => {
    const code =
      'import os\nclass Forks:\n    def __reduce__(self):\n        os.fork()\n        return (os.fork, ())\nforks, large, after = Forks(), 0, "after"'
    expect((await from.supervisor.run(code)).done.outcome).toBe('ok')
    const { body } = await from.supervisor.call('POST', '/snapshot')
    const answer = await to.supervisor.call('POST', '/restore', body)
    const { lost } = JSON.parse(answer.body.toString()) as Restored
    expect([answer.status, lost.map(({ what }) => what).filter((what) => what === 'forks' || what === 'after')]).toEqual([200, []])
    for (const { supervisor } of [from, to]) {
      const run = await supervisor.run('print(after, isinstance(forks, int) and forks > 0, os.waitpid(-1, 0)[1])')
      expect(run.stdout).toBe(supervisor === to.supervisor ? 'after True 0\n' : 'after False 0\n')
    }
  })

  it.each(['/snapshot?timeout_ms=0', '/snapshot?timeout_ms=1e3', '/restore?cpu_ms=300001'])('refuses %s', async (target) => {
    expect((await to.supervisor.call('POST', target)).status).toBe(400)
  })
})
