import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { kernelMessages } from '../../security/corpus/kernel-messages.ts'
import { openProcessorTime } from '../../support/processor-time.ts'
import { startReadySandbox, type TestSandbox } from './start-sandbox.ts'
import { Run, collect } from './supervisor-caller.ts'

let sandbox: TestSandbox
const supervisor = () => sandbox.supervisor
beforeAll(async () => void (sandbox = await startReadySandbox()))
afterAll(() => sandbox[Symbol.asyncDispose]())

/** The kernel records the start of a process in hundredths of a second: a process that starts after this is seen to be newer. */
const LATER = 'import time\ntime.sleep(0.05)'

const keepsWorking = async (): Promise<void> => expect((await supervisor().run('print("on")')).stdout).toBe('on\n')

describe('a kernel that dies', () => {
  it.each([
    ['os._exit', 'import os\nos._exit(3)', { code: 3, signal: null }],
    ['a segmentation fault', 'import ctypes\nctypes.string_at(0)', { code: null, signal: 11 }],
    ['abort', 'import os\nos.abort()', { code: null, signal: 6 }],
    ['kill -9 of itself', 'import os, signal\nos.kill(os.getpid(), signal.SIGKILL)', { code: null, signal: 9 }],
    [
      'kill -9 of everybody it can reach',
      'import os, signal\nos.kill(-1, signal.SIGKILL)\nos.kill(os.getpid(), signal.SIGKILL)',
      { code: null, signal: 9 },
    ],
    ['a fatal error of the interpreter', 'import ctypes\nctypes.pythonapi.Py_FatalError(b"enough")', { code: null, signal: 6 }],
    ['closing every descriptor', 'import os, time\nos.closerange(3, 1024)\nos._exit(5)', { code: 5, signal: null }],
  ])('of %s ends typed, and the next execution works', async (_name, code, exit) => {
    const run = await supervisor().run(code)
    expect(run.done).toMatchObject({ outcome: 'kernel_died', state_lost: { reason: 'kernel_died' }, exit })
    expect(run.of('cell_done')[0]).toMatchObject({ status: 'error' })
    await keepsWorking()
  })

  it('still shows what it printed', async () => {
    const run = await supervisor().run('import os\nprint("last words", flush=True)\nos.write(2, b"and raw ones\\n")\nos._exit(1)')
    expect([run.stdout, run.text('stderr')]).toEqual(['last words\n', 'and raw ones\n'])
  })

  it('right after it replied has the next cell run in a new kernel', async () => {
    const dying = kernelMessages.programs.find(({ id }) => id.endsWith('reply-then-death'))?.code ?? expect.fail()
    for (let round = 0; round < 5; round++) {
      const replied = await supervisor().run(`import os, struct\n${dying}`)
      const run = await supervisor().run('print("on")')
      expect([run.done.outcome, run.stdout], `round ${round}`).toEqual(['ok', 'on\n'])
      expect([replied.done.state_lost, run.done.state_lost].filter((lost) => lost !== null)).toEqual([{ reason: 'kernel_died' }])
    }
  })

  it('between two executions is reported by the next one', async () => {
    await supervisor().run('x = 1\nimport os, threading\nthreading.Timer(0.2, os._exit, [7]).start()')
    const before = (await supervisor().health()).kernel_generation
    await expect.poll(async () => (await supervisor().health()).kernel_generation).toBeGreaterThan(before)
    const run = await supervisor().run('x')
    expect(run.done).toMatchObject({ outcome: 'error', state_lost: { reason: 'kernel_died' } })
    expect(run.error?.name).toBe('NameError')
    expect((await supervisor().run('1')).done.state_lost).toBeNull()
  })
})

describe('limits', () => {
  it('of time: an interrupt keeps the variables', async () => {
    await supervisor().run('kept = 1')
    const run = await supervisor().run('import time\nwhile True: time.sleep(0.01)', { timeout_ms: 300 })
    expect(run.done).toMatchObject({ outcome: 'timed_out', state_lost: null })
    expect(run.error?.name).toBe('KeyboardInterrupt')
    expect(run.done.run_ms).toBeLessThan(20_000)
    expect((await supervisor().run('kept')).done.outcome).toBe('ok')
  })

  it('of time: what ignores the interrupt is killed soon after', async () => {
    const run = await supervisor().run('import signal\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\nwhile True: pass', {
      timeout_ms: 1_000,
    })
    expect(run.done).toMatchObject({ outcome: 'timed_out', state_lost: { reason: 'timed_out' }, exit: { signal: 9 } })
    expect(run.done.run_ms).toBeLessThan(20_000)
    await keepsWorking()
  })

  it('of time bound the whole notebook, also with on_error continue', async () => {
    const run = await supervisor().run(['import time\ntime.sleep(60)', 'print("never")'], { timeout_ms: 300, on_error: 'continue' })
    expect(run.of('cell_done').map((event) => event['status'])).toEqual(['error', 'aborted'])
    expect(run.done.outcome).toBe('timed_out')
  })

  it.each([
    ['the heap', 'l = []\nwhile True: l.append(bytearray(10**7))'],
    ['an anonymous mapping', 'import mmap\nm = mmap.mmap(-1, 4 * 10**9)\nwhile True: m.write(b"x" * 10**6)'],
    [
      'many processes',
      'import os\nfor _ in range(20):\n    if os.fork() == 0:\n        l = [bytearray(10**6) for _ in range(60)]\n        import time; time.sleep(30)\nl = []\nwhile True: l.append(bytearray(10**6))',
    ],
  ])('of memory, filled through %s, end in oom long before their time limit', async (_name, code) => {
    const run = await supervisor().run(code, { timeout_ms: 20_000 })
    expect(run.done).toMatchObject({ outcome: 'oom', state_lost: { reason: 'oom' } })
    expect(run.done.run_ms).toBeLessThan(15_000)
    await keepsWorking()
  })

  // More than the tier, less than the container: its limit has space for files in memory.
  it.each([
    [
      'System V',
      'import ctypes\nlibc = ctypes.CDLL(None)\nlibc.shmat.restype = ctypes.c_void_p\nfor _ in range(72): ctypes.memset(libc.shmat(libc.shmget(0, 10 << 20, 0o1600), None, 0), 1, 10 << 20)',
    ],
    ['memfd', 'import os\nfd = os.memfd_create("x")\nfor _ in range(72): os.write(fd, bytes(10 << 20))'],
    ['a shared mapping', 'import mmap\nm = mmap.mmap(-1, 720 << 20)\nfor _ in range(72): m.write(bytes(10 << 20))'],
  ])('of memory count shared memory: %s', async (_name, code) => {
    const run = await supervisor().run(`${code}\nprint("has it", flush=True)\nimport time; time.sleep(10)`, { timeout_ms: 20_000 })
    expect(run.done).toMatchObject({ outcome: 'oom', state_lost: { reason: 'oom' } })
    await keepsWorking()
  })

  it('of memory leave what is in files out, also when files come and go', async () => {
    const code = `import os, time
held = bytearray(b"x") * (480 << 20)
full = open("/mnt/data/full", "wb"); full.write(bytes(20 << 20)); full.flush()
end, rounds = time.time() + 3, 0
while time.time() < end:
    with open("/mnt/data/x", "wb", buffering=0) as file:
        for _ in range(100): file.write(bytes(1 << 20))
    os.remove("/mnt/data/x")
    rounds += 1
os.remove("/mnt/data/full")
print(rounds > 3)`
    expect((await supervisor().run(code, { timeout_ms: 30_000 })).stdout).toBe('True\n')
    await supervisor().run('del held; full.close()')
  })

  it('of memory come from the configuration where the container sets none', async () => {
    await using unlimited = await startReadySandbox({
      options: ['--pids-limit=256'],
      profile: 'emulated',
      limits: { memory_bytes: 400_000_000, preload: [] },
    })
    // Each process has the same limit too: code that meets it before the monitor does continues until the monitor ends it.
    const fill = 'l = []\nwhile True:\n    try:\n        l.append(bytearray(10**7))\n    except MemoryError:\n        pass'
    expect((await unlimited.supervisor.run(fill)).done.outcome).toBe('oom')
  })

  it('of disk end in disk_full with the variables kept', async () => {
    const run = await supervisor().run('kept = 2\nf = open("/mnt/data/big", "wb")\nwhile True: f.write(b"x" * 10**6)')
    expect(run.done).toMatchObject({ outcome: 'disk_full', state_lost: null })
    expect((await supervisor().call('PUT', '/files/more', Buffer.alloc(1_000_000))).status).toBe(507)
    expect((await supervisor().run('import os\nf.close()\nos.remove("/mnt/data/big")\nprint(kept)')).stdout).toBe('2\n')
  })

  it('of processes: a fork bomb is cleaned up while the supervisor answers', async () => {
    // The processor time of the sandbox during an answer: on a busy host an answer takes longer, but the sandbox does not use more.
    await using processor = await openProcessorTime(sandbox.name)
    let isOver = false
    const bomb = 'import os\nwhile True:\n    try: os.fork()\n    except OSError: pass'
    const running = supervisor()
      .run(bomb, { timeout_ms: 1_000 })
      .finally(() => (isOver = true))
    let slowest = 0
    while (!isOver) {
      const before = await processor.readMs()
      await supervisor().health()
      slowest = Math.max(slowest, (await processor.readMs()) - before)
    }
    expect(slowest).toBeLessThan(1_000)
    expect(['timed_out', 'oom']).toContain((await running).done.outcome)
    await keepsWorking()
  })

  it('of processes: a fork bomb in the background is killed and the variables stay', async () => {
    const bomb = 'import os\nwhile True:\n    try: os.fork()\n    except OSError: pass'
    await supervisor().run(`kept = 4\nimport subprocess, sys\nbomb = subprocess.Popen([sys.executable, "-c", """${bomb}"""])`)
    let crowded: Run | undefined
    await expect
      .poll(async () => (crowded = await supervisor().run('print(kept)')).done['ended_processes'], { timeout: 60_000 })
      .toBeGreaterThan(100)
    expect([crowded?.stdout, crowded?.done.state_lost]).toEqual(['4\n', null])
    expect((await supervisor().run('print(bomb.wait())')).stdout).toBe('-9\n')
  })

  it('of processes: a thread bomb raises in the cell', async () => {
    const run = await supervisor().run(
      'import threading, time\nwhile True: threading.Thread(target=time.sleep, args=(60,), daemon=True).start()',
      { timeout_ms: 10_000 },
    )
    expect(run.error?.name).toBe('RuntimeError')
    await supervisor().run('import os\nos._exit(0)')
    await keepsWorking()
  })
})

describe('a cancelled execution', () => {
  const cancelOnceRunning = async (code: string, killAfterMs: number, trigger = 'cell_started'): Promise<Run> => {
    const id = `exec_${randomBytes(8).toString('hex')}`
    const events = []
    for await (const event of supervisor().start(id, code)) {
      events.push(event)
      if (event.type === trigger) {
        const body = JSON.stringify({ kill_after_ms: killAfterMs })
        expect((await supervisor().call('POST', `/executions/${id}/interrupt`, body)).status).toBe(202)
        expect((await supervisor().call('POST', `/executions/${id}/interrupt`, body)).status).toBe(202)
      }
    }
    return new Run(events)
  }

  it('keeps its variables when the interrupt ends it, also right after its start', async () => {
    await supervisor().run('kept = 3')
    expect((await cancelOnceRunning('import time\ntime.sleep(60)', 2_000)).done).toMatchObject({ outcome: 'cancelled', state_lost: null })
    expect((await supervisor().run('print(kept)')).stdout).toBe('3\n')
  })

  it('in a subprocess ends too', async () => {
    expect((await cancelOnceRunning('!sleep 60', 2_000)).done.outcome).toBe('cancelled')
    await keepsWorking()
  })

  it('stops the processes that it started, and no older ones', async () => {
    const waiting = (word: string) => `["bash", "-c", "trap 'echo ${word}; exit' INT; echo up; while :; do sleep 0.01; done"]`
    await supervisor().run(
      `import subprocess\nolder = subprocess.Popen(${waiting('older')}, stdout=subprocess.PIPE)\nolder.stdout.readline()\n${LATER}`,
    )
    const deaf = 'import signal\nsignal.signal(signal.SIGINT, lambda *_: None)'
    const run = await cancelOnceRunning(`${deaf}\nsubprocess.Popen(${waiting('heard')}).wait()`, 30_000, 'stream')
    expect(run.done).toMatchObject({ outcome: 'cancelled', state_lost: null })
    expect(run.done['ended_processes']).toBeGreaterThan(0)
    expect(run.stdout).toBe('up\nheard\n')
    expect((await supervisor().run('print(older.poll())\nolder.kill()\nprint(older.stdout.read())')).stdout).toBe("None\nb''\n")
  })

  it('is killed when it ignores the interrupt', async () => {
    const run = await cancelOnceRunning(
      'import signal\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\nprint("deaf")\nwhile True: pass',
      200,
      'stream',
    )
    expect(run.done).toMatchObject({ outcome: 'cancelled', state_lost: { reason: 'cancelled' } })
    await keepsWorking()
  })

  it('does not change after its end', async () => {
    const id = `exec_${randomBytes(8).toString('hex')}`
    const events = await collect(supervisor().start(id, '1'))
    expect((await supervisor().call('POST', `/executions/${id}/interrupt`, '{}')).status).toBe(202)
    expect(await collect(supervisor().events('GET', `/executions/${id}/events`))).toEqual(events)
  })
})

describe('children that outlive a cell', () => {
  it('keep running, and their output never breaks the framing', async () => {
    const run = await supervisor().run(
      'import subprocess\nchild = subprocess.Popen("while true; do echo noise; sleep 0.01; done", shell=True)',
    )
    expect(run.done.outcome).toBe('ok')
    const next = await supervisor().run('import time\nprint("mine")\ntime.sleep(0.1)\nprint(child.poll())')
    expect(next.stdout.replaceAll('noise\n', '')).toBe('mine\nNone\n')
    await supervisor().run('child.kill()')
  })

  it('are killed with a stopped execution that started them', async () => {
    await supervisor().run(`import subprocess\nolder = subprocess.Popen(["sleep", "600"])\n${LATER}`)
    const deaf = 'trap "" INT; sleep 600'
    const stopped = await supervisor().run(`own = [subprocess.Popen(["bash", "-c", '${deaf}']) for _ in range(3)]\nwhile True: pass`, {
      timeout_ms: 300,
    })
    expect(stopped.done).toMatchObject({ outcome: 'timed_out', state_lost: null })
    expect(stopped.done['ended_processes']).toBeGreaterThanOrEqual(3)
    expect((await supervisor().run('print(older.poll(), [child.wait() for child in own])')).stdout).toBe('None [-9, -9, -9]\n')
    await supervisor().run('older.kill()')
  })
})
