import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startReadySandbox, type TestSandbox } from './start-sandbox.ts'

let sandbox: TestSandbox
const supervisor = () => sandbox.supervisor
beforeAll(async () => void (sandbox = await startReadySandbox()))
afterAll(() => sandbox[Symbol.asyncDispose]())

const MiB = 1024 * 1024

describe('a flood of output', () => {
  it.each([
    ['stdout', 'import sys\nfor i in range(1000): sys.stdout.write("x" * 1_000_000)', 'stdout'],
    ['stderr', 'import sys\nfor i in range(1000): sys.stderr.write("x" * 1_000_000)', 'stderr'],
    ['a grandchild', 'import subprocess\nsubprocess.run("yes xxxxxxx | head -c 1000000000", shell=True)', 'stdout'],
  ])('of 1 GB through %s keeps head and tail, counts every byte, and costs the supervisor nothing', async (_name, code, what) => {
    const before = await sandbox.supervisorMemoryBytes()
    const run = await supervisor().run(code, { timeout_ms: 60_000 })
    expect(run.done.outcome).toBe('ok')
    expect(run.done.truncated).toEqual([{ what, total_bytes: 1_000_000_000, kept_bytes: MiB + 64 * 1024, reason: 'max_output_bytes' }])
    expect(run.text(what as 'stdout').length).toBe(MiB + 64 * 1024)
    expect((await sandbox.supervisorMemoryBytes()) - before).toBeLessThan(32 * MiB)
  })

  it('of a kernel that does not count itself has the same result', async () => {
    const before = await sandbox.supervisorMemoryBytes()
    const run = await supervisor().run('import sys\nsys.stdout.buffer.send_all()\nfor i in range(100): sys.stdout.write("x" * 1_000_000)')
    expect(run.done.truncated).toEqual([
      { what: 'stdout', total_bytes: 100_000_000, kept_bytes: MiB + 64 * 1024, reason: 'max_output_bytes' },
    ])
    expect(run.stdout.length).toBe(MiB + 64 * 1024)
    expect((await sandbox.supervisorMemoryBytes()) - before).toBeLessThan(32 * MiB)
  })

  it('keeps the last bytes of the stream as its tail', async () => {
    const run = await supervisor().run('for i in range(100_000): print(i)', { max_output_bytes: 100, tail_bytes: 50 })
    expect(run.stdout.startsWith('0\n1\n2\n')).toBe(true)
    expect(run.stdout.endsWith('99998\n99999\n')).toBe(true)
    expect(run.stdout.length).toBe(150)
  })

  it('keeps everything when head and tail are enough', async () => {
    const run = await supervisor().run('print("é" * 100)', { max_output_bytes: 101, tail_bytes: 200 })
    expect([run.stdout, run.done.truncated]).toEqual([`${'é'.repeat(100)}\n`, []])
  })

  it('in tiny pieces makes few events', async () => {
    const run = await supervisor().run('import sys\nfor i in range(100_000):\n    sys.stdout.write("x"); sys.stdout.flush()', {
      timeout_ms: 60_000,
    })
    expect(run.stdout.length).toBe(100_000)
    expect(run.events.length).toBeLessThan(2_000)
  })

  it('that changes between the two streams makes few events, and loses nothing', async () => {
    const before = await sandbox.supervisorMemoryBytes()
    const write = 'sys.stdout.write("a"); sys.stdout.flush(); sys.stderr.write("b"); sys.stderr.flush()'
    const run = await supervisor().run(`import sys\nfor i in range(60_000):\n    ${write}`, { timeout_ms: 100_000 })
    expect([run.done.outcome, run.done.truncated]).toEqual(['ok', []])
    expect([run.stdout, run.text('stderr')]).toEqual(['a'.repeat(60_000), 'b'.repeat(60_000)])
    // The first changes keep their order.
    expect(
      run
        .of('stream')
        .slice(0, 1_000)
        .map((event) => event['name'])
        .join(' '),
    ).toBe(Array(500).fill('stdout stderr').join(' '))
    expect(run.events.length).toBeLessThan(5_000)
    expect((await sandbox.supervisorMemoryBytes()) - before).toBeLessThan(16 * MiB)
  })

  it('splits long text into events of at most 64 KiB', async () => {
    const run = await supervisor().run('print("é" * 300_000)')
    expect(Math.max(...run.of('stream').map((event) => Buffer.byteLength(String(event['text']))))).toBeLessThanOrEqual(64 * 1024)
    expect(run.stdout).toBe(`${'é'.repeat(300_000)}\n`)
  })

  it('hides neither later output of other processes nor that of the next cell', async () => {
    const run = await supervisor().run(`
import array, logging, os, subprocess, sys, threading
flood = ("x" * 99 + "\\n") * 40_000
print(flood, end="")
subprocess.run(["echo", "a child"], stdout=sys.stdout)
get_ipython().system("echo a shell")
thread = threading.Thread(target=print, args=("a thread",)); thread.start(); thread.join()
logging.warning("a log")
pid = os.fork()
if pid == 0: print("a fork", flush=True); os._exit(0)
os.waitpid(pid, 0)
sys.stdout.flush()
print(sys.stdout.buffer.write(array.array("I", b"\\x0aI\\x0aI")))`)
    const said = 'a child\na shell\na thread\na fork\n\nI\nI4\n'
    expect(run.stdout.slice(-said.length - 3)).toBe(`xx\n${said}`)
    expect(run.text('stderr')).toBe('WARNING:root:a log\n')
    const total = 4_000_000 + said.length
    expect(run.done.truncated).toEqual([
      { what: 'stdout', total_bytes: total, kept_bytes: 1024 * 1024 + 64 * 1024, reason: 'max_output_bytes' },
    ])
    const next = await supervisor().run('print("whole")')
    expect([next.stdout, next.done.truncated]).toEqual(['whole\n', []])
  })

  it('of displays stops at a cap that is reported', async () => {
    const run = await supervisor().run(
      'from IPython.display import display\nfor i in range(40): display({"text/html": "x" * 1_000_000}, raw=True)',
      { timeout_ms: 60_000 },
    )
    expect(run.of('display').length).toBeLessThan(40)
    expect(run.done.truncated).toMatchObject([{ what: 'display', reason: 'max_display_bytes', total_bytes: 40_000_000 + 40 * 2 }])
    const many = await supervisor().run('for i in range(6000): display({"text/html": "x"}, raw=True)', { timeout_ms: 60_000 })
    expect(many.done.truncated).toMatchObject([{ what: 'display', reason: 'too_many_displays' }])
  })

  it('past the limit of the sandbox ends in output_limit', async () => {
    await using limited = await startReadySandbox({ limits: { max_output_bytes: 5_000_000, preload: [] } })
    const run = await limited.supervisor.run('while True: print("x" * 1000)')
    expect(run.done).toMatchObject({ outcome: 'output_limit', state_lost: null })
  })
})

describe('hostile output', () => {
  it.each([
    ['a bundle that is too large', 'display({"text/html": "x" * 30_000_000, "text/plain": "small"}, raw=True)', 'bundle_too_large'],
    ['a bundle that is too deep', 'v = []\nfor _ in range(200): v = [v]\ndisplay({"application/json": v}, raw=True)', 'too_deep'],
    ['a bundle with too many keys', 'display({"application/json": {str(i): 1 for i in range(100_000)}}, raw=True)', 'too_many_keys'],
  ])('%s is dropped and reported', async (_name, code, reason) => {
    const run = await supervisor().run(`from IPython.display import display\n${code}`)
    expect(run.done.outcome).toBe('ok')
    expect(run.done.truncated.map((entry) => entry.reason)).toContain(reason)
  })

  it('is always valid JSON', async () => {
    const run = await supervisor().run(
      'from IPython.display import display\ndisplay({"application/json": {"nan": float("nan"), "big": 10**30, "s": "a\\ud800", "k\\udc00": float("inf")}}, raw=True)',
    )
    const [display] = run.of('display')
    expect(JSON.stringify(display?.['data'])).not.toMatch(/NaN|Infinity/)
    expect(run.done.truncated).toMatchObject([{ what: 'display', reason: 'numbers_changed' }])
  })

  it('with numbers that no JSON parser accepts is dropped and reported', async () => {
    const run = await supervisor().run(
      'import sys\nsys.set_int_max_str_digits(0)\ndisplay({"application/json": {"n": 10**5000}}, raw=True)',
    )
    expect([run.done.outcome, run.of('display')]).toEqual(['ok', []])
    expect(run.done.truncated).toMatchObject([{ what: 'display', reason: 'not_json' }])
  })

  it('of unlimited error texts is cut', async () => {
    const run = await supervisor().run('raise ValueError("x" * 50_000_000)', { timeout_ms: 60_000 })
    expect(run.done.outcome).toBe('error')
    expect(JSON.stringify(run.of('error')[0]).length).toBeLessThan(MiB)
    expect(run.done.truncated).toMatchObject([{ what: 'error', reason: 'max_error_bytes' }])
    const [cut] = run.done.truncated
    expect(cut?.total_bytes).toBeGreaterThan(50_000_000)
    expect(cut?.kept_bytes).toBeLessThan(MiB)
  })

  it('counts tracebacks towards the limit of the output and stops the execution at it', async () => {
    const code = `
ip = get_ipython()
for _ in range(200):
    try: raise ValueError("x" * 60_000)
    except ValueError: ip.showtraceback()`
    const run = await supervisor().run(code, { max_total_bytes: 1024 })
    expect(run.done.outcome).toBe('output_limit')
    expect(JSON.stringify(run.events).length).toBeLessThan(300_000)
  })

  it('bounds error messages that code forges on the channel, alone and together', async () => {
    const code = `
session = get_ipython().kernel.session
for _ in range(700):
    session.channel.send_message({"op": "error", "id": session.request_id, "name": "E", "value": "v" * 64_000, "traceback": ["t" * 1000] * 256})
1/0`
    const run = await supervisor().run(code, { timeout_ms: 120_000 })
    expect(JSON.stringify(run.events).length).toBeLessThan(6 * MiB)
    expect(run.done).toMatchObject({ outcome: 'error', truncated: [{ what: 'error', reason: 'max_error_bytes' }] })
    expect(run.done.output_bytes).toBeGreaterThan(700 * 256_000)
    expect(run.of('error').at(-1)).toMatchObject({ name: 'ZeroDivisionError', value: 'division by zero' })
  })

  it('with fields of the wrong type changes neither the types of the events nor the state of the kernel', async () => {
    const code = `
kept = 1
session = get_ipython().kernel.session
odd = [True, -1, 2**70, 1.5, None, [], [1], {}, {"toString": 1, "valueOf": 1}, "x"]
for value in odd:
    for fields in ({"op": "result", "data": {"text/plain": value}, "count": value, "metadata": value, "transient": value},
                   {"op": "update", "data": value, "transient": {"display_id": value}}, {"op": "error", "name": value, "value": value, "traceback": value},
                   {"op": "omitted", "bytes": value, "reason": value}, {"op": "input", "count": value}, {"op": value}, {"op": "clear", "wait": value}):
        session.channel.send_message({"id": session.request_id, **fields})`
    const run = await supervisor().run(code)
    expect(run.done).toMatchObject({ outcome: 'ok', state_lost: null })
    expect(run.done.truncated.map(({ reason }) => reason)).toContain('malformed')
    for (const { data, metadata, execution_count: count } of run.of('display') as readonly Record<string, unknown>[]) {
      expect(Object.values(data as object).every((value) => typeof value === 'string')).toBe(true)
      expect([Array.isArray(metadata), typeof metadata]).toEqual([false, 'object'])
      expect(count === undefined || Number.isSafeInteger(count)).toBe(true)
    }
    expect((await supervisor().run('print(kept)')).stdout).toBe('1\n')
  })

  it('written as frames to every inherited descriptor forges nothing', async () => {
    const run = await supervisor().run(`
import os, json, struct, socket
forged = {"op": "reply", "id": "", "status": "ok", "count": 999}
done = {"seq": 0, "t": 0, "type": "done", "outcome": "ok", "files": [{"path": "forged"}]}
for fd in range(3, 64):
    for body in (forged, done, {"op": "display", "data": {"text/plain": "forged"}}):
        for packet in (struct.pack("<BQB", 0x4A, 1, 1) + json.dumps(body).encode(), json.dumps(body).encode() + b"\\n", b"\\xff" * 100, b"J", b"B" * 1000):
            try: os.write(fd, packet)
            except OSError: pass
1/0`)
    expect(run.done).toMatchObject({ outcome: 'error', files: [], state_lost: null })
    expect(run.of('display')).toEqual([])
    expect((await supervisor().run('print("fine")')).stdout).toBe('fine\n')
  })
})
