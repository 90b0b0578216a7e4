import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startReadySandbox, type TestSandbox } from './start-sandbox.ts'
import { Run, collect } from './supervisor-caller.ts'

let sandbox: TestSandbox
const supervisor = () => sandbox.supervisor
const newId = () => `exec_${randomBytes(8).toString('hex')}`
beforeAll(async () => void (sandbox = await startReadySandbox()))
afterAll(() => sandbox[Symbol.asyncDispose]())

describe('an execution', () => {
  it('has no trace of the cells that warmed up the kernel', async () => {
    const names = '[name for name in globals() if not name.startswith("__")]'
    const run = await supervisor().run(`print(In[:-1], Out, ${names})`)
    expect(run.of('cell_started')).toMatchObject([{ execution_count: 1 }])
    expect(run.stdout).toBe(
      "[''] {} ['_ih', '_oh', '_dh', 'In', 'Out', 'get_ipython', 'exit', 'quit', 'open', '_', '_i', '_ii', '_iii', '_i1']\n",
    )
    expect((await supervisor().run('print(repr(_), repr(_ii), repr(_iii))')).stdout).toBe("'' '' ''\n")
  })

  it('numbers its events from 0 and ends with one done', async () => {
    const run = await supervisor().run('print(1)')
    expect(run.events.map((event) => event.type)).toEqual(['started', 'cell_started', 'stream', 'cell_done', 'done'])
    expect(run.events.map((event) => event.seq)).toEqual([0, 1, 2, 3, 4])
    expect(run.stdout).toBe('1\n')
    expect(run.done).toMatchObject({ outcome: 'ok', truncated: [], state_lost: null, exit: null, output_bytes: 2 })
    expect(run.done.peak_memory_bytes).toBeGreaterThan(10 * 1024 * 1024)
  })

  it('reports the peak of its memory; user code may reuse the descriptor behind it for a file', async () => {
    const peak = async (code: string) => (await supervisor().run(code)).done.peak_memory_bytes
    const large = await peak('len(bytearray(200_000_000))')
    expect(await peak('1')).toBeLessThan(large - 150_000_000)
    const { stdout } = await supervisor().run(`
import glob, os
[number] = [name.rsplit("/")[-1] for name in glob.glob("/proc/self/fd/*") if os.path.islink(name) and os.readlink(name).endswith("clear_refs")]
os.dup2(os.open("mine", os.O_CREAT | os.O_WRONLY), int(number))
print(number)`)
    expect(Number(stdout)).toBeGreaterThan(2)
    expect((await supervisor().run('import os; print(os.path.getsize("mine"))')).stdout).toBe('0\n')
  })

  it('captures output of programs that open standard output and error by name', async () => {
    const run = await supervisor().run('import os\nos.system("echo out > /dev/stdout; echo err > /dev/stderr")')
    expect([run.stdout, run.text('stderr')]).toEqual(['out\n', 'err\n'])
  })

  it('returns the trace id of its start, and is refused with a malformed one', async () => {
    const start = (traceId: unknown) =>
      supervisor().call('PUT', `/executions/${newId()}`, JSON.stringify({ v: 1, cells: [{ code: '' }], trace_id: traceId }))
    const traceId = 'a1b2c3d4e5f60718293a4b5c6d7e8f90'
    const done = async (answer: Awaited<ReturnType<typeof start>>) =>
      JSON.parse(answer.body.toString().trim().split('\n').at(-1) ?? '') as Record<string, unknown>
    expect(await done(await start(traceId))).toMatchObject({ type: 'done', trace_id: traceId })
    expect(await done(await start(undefined))).toMatchObject({ type: 'done', trace_id: null })
    for (const wrong of ['x', traceId.toUpperCase(), `${traceId}\n`, 7]) expect((await start(wrong)).status).toBe(400)
  })

  it('keeps variables, and shows the last value as execute_result', async () => {
    await supervisor().run('kept = 20')
    const [display] = (await supervisor().run('kept + 1')).of('display')
    expect(display).toMatchObject({ output_type: 'execute_result', data: { 'text/plain': '21' } })
  })

  it('is run once when its id is started twice, and both readers get all events', async () => {
    const id = newId()
    const code = 'try: count += 1\nexcept NameError: count = 1\nprint(count)'
    const [first, second] = await Promise.all([collect(supervisor().start(id, code)), collect(supervisor().start(id, code))])
    expect(second).toEqual(first)
    expect(new Run(first).stdout).toBe('1\n')
  })

  it('streams events after a number', async () => {
    const id = newId()
    const all = await collect(supervisor().start(id, 'print(1)'))
    const later = await collect(supervisor().events('GET', `/executions/${id}/events?after=2`))
    expect(later).toEqual(all.slice(3))
  })

  it('continues when its client disconnects', async () => {
    const id = newId()
    const left = await supervisor().open(
      'PUT',
      `/executions/${id}`,
      JSON.stringify({ v: 1, cells: [{ code: 'import time\ntime.sleep(0.3)\nprint("still here")' }] }),
    )
    left.body.destroy()
    left.body.on('error', () => undefined)
    const events = await collect(supervisor().events('GET', `/executions/${id}/events`))
    expect(new Run(events).stdout).toBe('still here\n')
  })

  it('answers its headers at once and shows the first line while the cell still runs', async () => {
    const id = newId()
    const started = Date.now()
    for await (const event of supervisor().start(id, 'import time\nprint("early")\ntime.sleep(100)')) {
      if (event.type !== 'stream') continue
      expect(Date.now() - started).toBeLessThan(50_000)
      break
    }
    await supervisor().call('POST', `/executions/${id}/interrupt`, '{}')
    await collect(supervisor().events('GET', `/executions/${id}/events`))
  })

  it('refuses a second id while one runs, with 409, and 404 for an id that was never started', async () => {
    const id = newId()
    const running = collect(supervisor().start(id, 'import time\ntime.sleep(1)'))
    await expect.poll(async () => (await supervisor().health()).kernel).toBe('busy')
    const second = await supervisor().call('PUT', `/executions/${newId()}`, JSON.stringify({ v: 1, cells: [{ code: '1' }] }))
    expect([second.status, JSON.parse(second.body.toString()).error.code]).toEqual([409, 'conflict'])
    expect((await supervisor().call('POST', '/snapshot')).status).toBe(409)
    expect((await supervisor().call('GET', `/executions/${newId()}/events`)).status).toBe(404)
    await running
  })

  it.each([
    ['no cells', { v: 1, cells: [] }],
    ['another version', { v: 2, cells: [{ code: '1' }] }],
    ['code that is no string', { v: 1, cells: [{ code: 1 }] }],
    ['a wrong on_error', { v: 1, cells: [{ code: '1' }], on_error: 'maybe' }],
    ['a negative timeout', { v: 1, cells: [{ code: '1' }], timeout_ms: -1 }],
  ])('refuses %s with 400', async (_name, body) => {
    expect((await supervisor().call('PUT', `/executions/${newId()}`, JSON.stringify(body))).status).toBe(400)
  })

  it('refuses what is not JSON with 400, and a body over the limit with 413', async () => {
    expect((await supervisor().call('PUT', `/executions/${newId()}`, '{"v":1')).status).toBe(400)
    expect((await supervisor().call('PUT', `/executions/${newId()}`, '['.repeat(100_000))).status).toBe(400)
    const huge = await supervisor()
      .call('PUT', `/executions/${newId()}`, JSON.stringify({ v: 1, cells: [{ code: 'x'.repeat(17 * 1024 * 1024) }] }))
      .catch(() => ({ status: 413 }))
    expect(huge.status).toBe(413)
  })
})

describe('cells of a notebook', () => {
  it('stop at the first error, and the rest is aborted', async () => {
    const run = await supervisor().run(['a = 1', '1/0', 'print(a)'])
    expect(run.of('cell_done').map((event) => event['status'])).toEqual(['ok', 'error', 'aborted'])
    expect(run.error).toMatchObject({ name: 'ZeroDivisionError', value: 'division by zero' })
    expect(run.done.outcome).toBe('error')
  })

  it('continue after an error with on_error continue', async () => {
    const run = await supervisor().run(['a = 1', '1/0', 'print(a)'], { on_error: 'continue' })
    expect(run.of('cell_done').map((event) => event['status'])).toEqual(['ok', 'error', 'ok'])
    expect(run.of('stream')[0]).toMatchObject({ index: 2, text: '1\n' })
    expect(run.done.outcome).toBe('error')
  })
})

describe('what a cell can do', () => {
  it.each([
    ['shell commands', '!echo hi', 'hi\n'],
    ['subprocesses', 'import subprocess\nprint("a")\nsubprocess.run(["echo", "b"])\nprint("c")', 'a\nb\nc\n'],
    ['%%bash', '%%bash\necho $((1+1))', '2\n'],
    ['top-level await', 'import asyncio\nawait asyncio.sleep(0.01)\nprint("slept")', 'slept\n'],
    [
      'printing from a forked child',
      'import os\npid = os.fork()\nif pid == 0:\n    print("child"); os._exit(0)\n_ = os.waitpid(pid, 0)\nprint("parent")',
      'child\nparent\n',
    ],
    [
      'a forked child that reaches the end of the cell',
      'import os\npid = os.fork()\nif pid == 0:\n    print("child")\nelse:\n    print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))',
      'child\n0\n',
    ],
    [
      'a forked child that raises',
      'import os\npid = os.fork()\nif pid == 0: raise SystemExit(3)\nprint(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))',
      '1\n',
    ],
    [
      'multiprocessing',
      'from multiprocessing import get_context\nwith get_context("fork").Pool(2) as pool: print(pool.map(abs, [-1, -2]))',
      '[1, 2]\n',
    ],
    ['bytes on stdout', 'import sys\n_ = sys.stdout.buffer.write(b"caf\\xc3\\xa9 \\xff\\n")', 'café \ufffd\n'],
    ['lone surrogates', 'print("a\\ud800b")', 'a\ufffdb\n'],
    ['the working folder', 'import os\nprint(os.getcwd(), os.environ["HOME"])', '/mnt/data /home/worker\n'],
    ['threads', 'import threading\nt = threading.Thread(target=print, args=("from a thread",))\nt.start(); t.join()', 'from a thread\n'],
    ['closing stdout', 'import sys\nsys.stdout.close()\nprint("open")', 'open\n'],
  ])('%s', async (_name, code, expected) => {
    const run = await supervisor().run(code)
    expect({ outcome: run.done.outcome, stdout: run.stdout }).toEqual({ outcome: 'ok', stdout: expected })
  })

  it('are transformed once, with the transformers that earlier cells registered', async () => {
    const register = [
      'seen = []',
      'def shout(lines):',
      '    seen.append("".join(lines))',
      '    return [line.replace("QUIET", "LOUD") for line in lines]',
      'get_ipython().input_transformers_post.append(shout)',
      'print("QUIET")',
    ].join('\n')
    expect((await supervisor().run(register)).stdout).toBe('QUIET\n')
    expect((await supervisor().run('print("QUIET")')).stdout).toBe('LOUD\n')
    expect((await supervisor().run('import asyncio\nawait asyncio.sleep(0)\nprint("QUIET")')).stdout).toBe('LOUD\n')
    const forget = 'get_ipython().input_transformers_post.remove(shout)\nprint(len(seen))'
    expect((await supervisor().run(forget)).stdout).toBe('3\n')
    expect((await supervisor().run('print("QUIET")')).stdout).toBe('QUIET\n')
    expect((await supervisor().run('%%capture captured\nprint("x")')).stdout).toBe('')
    expect((await supervisor().run('print(repr(captured.stdout))')).stdout).toBe("'x\\n'\n")
  })

  it('finds the source of cells, also of earlier ones and in a deleted folder', async () => {
    const origin = 'import inspect, os, sys\ndef origin():\n    return inspect.getmodule(sys._getframe())\n'
    expect((await supervisor().run(`${origin}print(origin() is sys.modules["__main__"])`)).stdout).toBe('True\n')
    expect((await supervisor().run('print(origin() is sys.modules["__main__"])')).stdout).toBe('True\n')
    await supervisor().run('home = os.getcwd()\nos.mkdir("/tmp/gone")\nos.chdir("/tmp/gone")\nos.rmdir("/tmp/gone")')
    expect((await supervisor().run('print(1)\nos.chdir(home)')).stdout).toBe('1\n')
    const endless = await supervisor().run('def again(): again()\nagain()')
    expect(endless.of('error')).toMatchObject([{ name: 'RecursionError' }])
    expect(JSON.stringify(endless.of('error')[0]?.['traceback'])).toContain('skipping similar frames')
  })

  it('%timeit, and a plot as PNG', async () => {
    expect((await supervisor().run('%timeit -n 1 -r 1 1+1')).stdout).toContain('per loop')
    const plot = await supervisor().run('import matplotlib.pyplot as plt\nplt.plot([1, 2])\nplt.show()')
    const [display] = plot.of('display')
    expect(
      Buffer.from(String((display?.['data'] as Record<string, string> | undefined)?.['image/png']), 'base64')
        .subarray(1, 4)
        .toString(),
    ).toBe('PNG')
    expect(plot.text('stderr')).toBe('')
  })

  it.each(['%matplotlib inline', '%matplotlib agg', '%matplotlib'])('%j, as notebooks begin', async (magic) => {
    const run = await supervisor().run(magic)
    expect({ outcome: run.done.outcome, stderr: run.text('stderr') }).toEqual({ outcome: 'ok', stderr: '' })
    expect(
      (await supervisor().run('%matplotlib inline\nimport matplotlib.pyplot as plt\n_ = plt.plot([1, 2])')).of('display'),
    ).toHaveLength(1)
  })

  it('explains that windows cannot be displayed in a sandbox', async () => {
    expect((await supervisor().run('%gui qt')).text('stderr')).toContain('Use %matplotlib inline.')
  })

  it('displays output for a pager', async () => {
    const [help] = (await supervisor().run('len?')).of('display')
    expect(help?.['data']).toMatchObject({ 'text/plain': expect.stringContaining('Return the number of items') })
  })

  it('keeps text and displays in the order in which they were made', async () => {
    const run = await supervisor().run('from IPython.display import display\nfor i in range(50):\n    print(i)\n    display(i)')
    const order = run.events.flatMap((event) =>
      event.type === 'stream'
        ? String(event['text']).trim()
        : event.type === 'display'
          ? `d${(event['data'] as Record<string, string>)['text/plain']}`
          : [],
    )
    expect(order).toEqual(Array.from({ length: 50 }, (_, i) => [`${i}`, `d${i}`]).flat())
  })

  it('updates and clears displays', async () => {
    const run = await supervisor().run(
      'from IPython.display import display, clear_output\nh = display("x", display_id="one")\nh.update("y")\nclear_output(wait=True)',
    )
    expect(run.of('display')[0]).toMatchObject({ transient: { display_id: 'one' } })
    expect(run.of('update_display')[0]).toMatchObject({ display_id: 'one', data: { 'text/plain': "'y'" } })
    expect(run.of('clear_output')[0]).toMatchObject({ wait: true })
  })

  it('explains that input() cannot be answered in a sandbox', async () => {
    expect((await supervisor().run('input("name?")')).error?.name).toBe('NoKeyboardError')
  })

  it('succeeds with exit() and keeps its variables', async () => {
    await supervisor().run('still = "there"')
    expect((await supervisor().run('exit()')).done).toMatchObject({ outcome: 'ok', state_lost: null })
    expect((await supervisor().run('print(still)')).stdout).toBe('there\n')
  })

  it('seeds random numbers differently in every kernel', async () => {
    const draw = async () =>
      (
        await supervisor().run('import random, numpy, ssl\nprint(random.random(), numpy.random.rand(), ssl.RAND_bytes(8).hex())')
      ).stdout.split(' ')
    const first = await draw()
    await supervisor().run('import os\nos._exit(0)')
    const second = await draw()
    expect(second).toHaveLength(3)
    expect(second.filter((number) => first.includes(number))).toEqual([])
  })
})
