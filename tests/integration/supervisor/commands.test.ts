import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startReadySandbox, type TestSandbox } from './start-sandbox.ts'
import { Run, collect, type WireEvent } from './supervisor-caller.ts'

let sandbox: TestSandbox
const supervisor = () => sandbox.supervisor
const newId = () => `cmd_${randomBytes(8).toString('hex')}`
const base64 = (text: string): string => Buffer.from(text).toString('base64')
beforeAll(async () => void (sandbox = await startReadySandbox()))
afterAll(() => sandbox[Symbol.asyncDispose]())

const start = (argv: readonly string[], options: Readonly<Record<string, unknown>> = {}, id = newId()): AsyncGenerator<WireEvent> =>
  supervisor().events('PUT', `/commands/${id}`, { v: 1, argv, timeout_ms: 30_000, ...options })
const run = async (argv: readonly string[], options: Readonly<Record<string, unknown>> = {}, id = newId()): Promise<Run> =>
  new Run(await collect(start(argv, options, id)))
const bash = (script: string, options: Readonly<Record<string, unknown>> = {}): Promise<Run> => run(['bash', '-c', script], options)
const send = (id: string, entries: readonly unknown[]): Promise<{ readonly through: number }> =>
  supervisor().json('POST', `/commands/${id}/input`, { entries })

/** Reads until the output contains `text`. */
async function until(events: AsyncGenerator<WireEvent>, text: string): Promise<string> {
  let seen = ''
  while (!seen.includes(text)) {
    const next = await events.next()
    if (next.done === true) throw new Error(`The command ended without "${text}": ${seen}`)
    if (next.value.type === 'stream') seen += String(next.value['text'])
  }
  return seen
}

describe('a command', () => {
  it('has separate output streams, an exit code and the files that it made', async () => {
    const ended = await bash('echo out; echo err >&2; echo x > made-by-command.txt; exit 3')
    expect([ended.stdout, ended.text('stderr')]).toEqual(['out\n', 'err\n'])
    expect(ended.done).toMatchObject({ outcome: 'error', exit: { code: 3, signal: null }, state_lost: null, output_bytes: 8 })
    expect(ended.done.files.map(({ path }) => path)).toEqual(['made-by-command.txt'])
    expect((await bash('true')).done).toMatchObject({ outcome: 'ok', exit: { code: 0, signal: null } })
  })

  it('receives arguments unchanged, variables, a folder and a complete standard input', async () => {
    const ended = await run(['bash', '-c', 'printf "%s|" "$@"; echo "$NAME $PWD $TERM"; cat', 'bash', 'a b', '$X'], {
      env: { NAME: 'value' },
      cwd: '/tmp',
      stdin: base64('line 1\nline 2\n'),
    })
    expect(ended.stdout).toBe('a b|$X|value /tmp dumb\nline 1\nline 2\n')
  })

  it('reports a missing program or folder as a shell does', async () => {
    const missing = await run(['no-such-program'])
    expect([missing.done.exit, missing.text('stderr')]).toEqual([{ code: 127, signal: null }, 'no-such-program: command not found\n'])
    const nowhere = await bash('true', { cwd: 'no-such-folder' })
    expect(nowhere.done.exit).toEqual({ code: 126, signal: null })
    expect(nowhere.text('stderr')).toContain('/mnt/data/no-such-folder')
  })

  it('refuses text with a null character or a lone surrogate, which no program can receive', async () => {
    for (const part of [
      { argv: ['echo', '\ud800'] },
      { env: { A: '\udc00' } },
      { env: { '\ud800': 'x' } },
      { cwd: '\ud800' },
      { argv: ['a\0b'] },
    ]) {
      const answer = await supervisor().call('PUT', `/commands/${newId()}`, JSON.stringify({ v: 1, argv: ['true'], ...part }))
      expect([answer.status, JSON.parse(answer.body.toString())]).toMatchObject([400, { error: { code: 'bad_request' } }])
    }
    const cell = { v: 1, cells: [{ code: '1' }], env: { A: '\ud800' } }
    expect((await supervisor().call('PUT', `/executions/${newId()}`, JSON.stringify(cell))).status).toBe(400)
  })

  it('runs once per id, and a second reader gets its events from any number on', async () => {
    const id = newId()
    const script = 'echo once >> /tmp/once-$0; wc -l < /tmp/once-$0'
    const first = await run(['bash', '-c', script, id], {}, id)
    const again = await run(['bash', '-c', script, id], {}, id)
    expect([first.stdout, again.events]).toEqual(['1\n', first.events])
    const rest = await collect(supervisor().events('GET', `/commands/${id}/events?after=0`))
    expect(rest).toEqual(first.events.slice(1))
    expect((await supervisor().call('GET', '/commands/cmd_unknown/events')).status).toBe(404)
  })

  it('applies each numbered entry of its input once, in order', async () => {
    const id = newId()
    const events = start(['cat'], { stdin_open: true }, id)
    await events.next()
    expect(await send(id, [{ seq: 0, data: base64('a\n') }])).toEqual({ through: 0 })
    await send(id, [{ seq: 0, data: base64('a\n') }])
    expect(await send(id, [{ seq: 2, data: base64('c\n') }])).toEqual({ through: 0 })
    await send(id, [{ seq: 1, data: base64('b\n') }, { seq: 2 }])
    const ended = new Run(await collect(events))
    expect([ended.stdout, ended.done.outcome]).toEqual(['a\nb\n', 'ok'])
    expect(await send(id, [{ seq: 9, data: base64('late') }])).toEqual({ through: 9 })
  })

  it('receives signals and reports the one that ended it', async () => {
    const id = newId()
    const events = start(['bash', '-c', "trap 'echo got INT' INT; echo ready; while :; do sleep 0.1; done"], {}, id)
    await until(events, 'ready')
    await send(id, [{ seq: 0, signal: 2 }])
    await until(events, 'got INT')
    await send(id, [{ seq: 1, signal: 9 }])
    const ended = new Run(await collect(events))
    expect(ended.done).toMatchObject({ outcome: 'error', exit: { code: null, signal: 9 } })
    expect((await supervisor().call('POST', `/commands/${id}/input`, JSON.stringify({ entries: [{ seq: 2, signal: 63 }] }))).status).toBe(
      400,
    )
  })

  it('runs in a terminal of the size that the client wants', async () => {
    const id = newId()
    const events = start(['bash', '--norc', '-i'], { pty: { cols: 101, rows: 33 } }, id)
    await events.next()
    await send(id, [{ seq: 0, data: base64('stty size; tty\n') }])
    expect(await until(events, '/dev/pts/')).toContain('33 101')
    await send(id, [
      { seq: 1, size: { cols: 55, rows: 22 } },
      { seq: 2, data: base64('stty size\n') },
    ])
    await until(events, '22 55')
    await send(id, [{ seq: 3, data: base64('exit 4\n') }])
    expect(new Run(await collect(events)).done).toMatchObject({ outcome: 'error', exit: { code: 4 } })
  })

  it('is stopped at its time limit and by its client, with every process that it started', async () => {
    const late = await bash('echo begin; sleep 600 & sleep 601', { timeout_ms: 2000 })
    expect([late.done.outcome, late.stdout]).toEqual(['timed_out', 'begin\n'])
    const id = newId()
    const events = start(['bash', '-c', "trap '' TERM HUP; sleep 602 & echo ready; wait"], {}, id)
    await until(events, 'ready')
    expect((await supervisor().call('POST', `/commands/${id}/stop`, '{"kill_after_ms":100}')).status).toBe(202)
    expect(new Run(await collect(events)).done).toMatchObject({ outcome: 'cancelled', exit: { signal: 9 } })
    const left = await bash('for f in /proc/[0-9]*/cmdline; do tr "\\0" " " < $f; echo; done 2>/dev/null | grep -c "^sleep 60" || true')
    expect(left.stdout).toBe('0\n')
  })

  it('is asked to end by SIGTERM first, and hangs up later', async () => {
    const program = `import signal
both = {signal.SIGTERM, signal.SIGHUP}
signal.pthread_sigmask(signal.SIG_BLOCK, both)
print("ready", flush=True)
print(*(signal.sigwait(both).name for _ in both))`
    const id = newId()
    const events = start(['python3', '-c', program], {}, id)
    await until(events, 'ready')
    await supervisor().call('POST', `/commands/${id}/stop`, '{"kill_after_ms":20000}')
    expect(new Run(await collect(events))).toMatchObject({ stdout: 'SIGTERM SIGHUP\n', done: { outcome: 'cancelled', exit: { code: 0 } } })
  })

  it('is stopped with the processes that left its session, and without those of others', async () => {
    const daemon = (seconds: number) => `(setsid sleep ${seconds} &)`
    // A daemon whose parent has ended and that is younger than the stopped command counts as its own. Start times have steps of 10 ms.
    const running = start(['bash', '-c', `${daemon(612)}; setsid sleep 613 & sleep 0.1; echo ready; exec sleep 614`])
    await until(running, 'ready')
    const late = start(['bash', '-c', `${daemon(622)}; setsid sleep 623 & echo ready; wait`], { timeout_ms: 3_000 })
    await until(late, 'ready')
    const young = start(['bash', '-c', 'setsid sleep 633 & echo ready; exec sleep 634'])
    await until(young, 'ready')
    await supervisor().run(
      'import subprocess\nchildren = [subprocess.Popen(["sleep", "643"], start_new_session=set) for set in (False, True)]',
    )
    expect(new Run(await collect(late)).done).toMatchObject({ outcome: 'timed_out' })
    const left = await bash('for f in /proc/[0-9]*/cmdline; do tr "\\0" " " < $f; echo; done 2>/dev/null | grep "^sleep 6[1-4]" | sort')
    expect(left.stdout.trim().split(/\s*\n/)).toEqual(
      ['612', '613', '614', '633', '634', '643', '643'].map((seconds) => `sleep ${seconds}`),
    )
    expect((await supervisor().run('print([child.poll() for child in children])\nfor child in children: child.kill()')).stdout).toBe(
      '[None, None]\n',
    )
  })

  it('keeps head and tail of a flood and is ended at the limit of all output', async () => {
    const flood = await bash('head -c 3000000 /dev/zero | tr "\\0" a; echo end', { max_output_bytes: 1000, tail_bytes: 100 })
    expect(flood.stdout).toHaveLength(1100)
    expect(flood.stdout.endsWith('end\n')).toBe(true)
    expect(flood.done.truncated).toMatchObject([{ what: 'stdout', total_bytes: 3_000_004, kept_bytes: 1100 }])
    expect((await run(['yes'], { max_total_bytes: 100_000, max_output_bytes: 10 })).done.outcome).toBe('output_limit')
  })
})

describe('beside the kernel, a command', () => {
  it('runs while code runs, and several at once', async () => {
    const busy = supervisor().run('import time, os\nwhile not os.path.exists("/tmp/go"): time.sleep(0.05)\nprint("kernel done")')
    const waiting = Array.from({ length: 3 }, (_, number) => bash(`while [ ! -e /tmp/go ]; do sleep 0.05; done; echo ${number}`))
    expect((await bash('touch /tmp/go; echo beside')).stdout).toBe('beside\n')
    expect((await Promise.all(waiting)).map((one) => one.stdout)).toEqual(['0\n', '1\n', '2\n'])
    expect((await busy).stdout).toBe('kernel done\n')
  })

  it('survives a kernel that is killed at its time limit', async () => {
    const id = newId()
    const events = start(['cat'], { stdin_open: true }, id)
    await events.next()
    const stuck = 'import signal\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\nwhile True: pass'
    expect((await supervisor().run(stuck, { timeout_ms: 300 })).done).toMatchObject({ outcome: 'timed_out' })
    await send(id, [{ seq: 0, data: base64('alive\n') }, { seq: 1 }])
    expect(new Run(await collect(events)).stdout).toBe('alive\n')
  })

  it('is forked by another process than the kernel, one that has not imported the data stack', async () => {
    const kernel = await supervisor().run('import os; print(os.getppid())')
    const command = await bash('echo $PPID')
    expect([kernel.stdout, command.stdout]).toEqual([expect.stringMatching(/^\d+\n$/), expect.stringMatching(/^\d+\n$/)])
    expect(command.stdout).not.toBe(kernel.stdout)
  })

  it('has the same confinement as the kernel, also when its process was forked in advance', async () => {
    const script = `
import os, socket
for family in (socket.AF_INET, socket.AF_INET6, socket.AF_NETLINK):
    try: socket.socket(family, socket.SOCK_DGRAM); print("socket", family)
    except OSError as error: print(error.errno)
print(os.getuid() != 0, [line.split()[1] for line in open("/proc/self/status") if line.startswith(("Seccomp:", "NoNewPrivs:", "CapEff:"))], open("/proc/self/stat").read().split()[5] == str(os.getpid()), os.nice(0), open("/proc/self/oom_score_adj").read().strip())
try: open("/usr/x", "w"); print("root is writable")
except OSError: print("read-only")
print(sorted(os.listdir("/proc/self/fd"))[:3], len(os.listdir("/proc/self/fd")))`
    for (let repeat = 0; repeat < 2; repeat++) {
      const ended = await run(['python3', '-c', script])
      expect(ended.stdout.split('\n')).toEqual([
        '101',
        '101',
        '101',
        "True ['0000000000000000', '1', '2'] True 5 1000",
        'read-only',
        "['0', '1', '2'] 4",
        '',
      ])
    }
  })
})

describe('a malformed request for a command', () => {
  it.each([
    ['no program', { argv: [] }],
    ['a null character', { argv: ['a\0b'] }],
    ['a variable with =', { argv: ['true'], env: { 'A=B': 'c' } }],
    ['input that is not base64', { argv: ['cat'], stdin: '*' }],
    ['a terminal without a size', { argv: ['bash'], pty: { cols: 0, rows: 1 } }],
  ])('is refused: %s', async (_, body) => {
    const answer = await supervisor().call('PUT', `/commands/${newId()}`, JSON.stringify({ v: 1, ...body }))
    expect(answer.status).toBe(400)
  })
})

describe('an execution', () => {
  it('has its own variables and folder, which the next execution does not have', async () => {
    const scoped = await supervisor().run('import os; print(os.environ["A"], os.getcwd())', { env: { A: 'b' }, cwd: '/tmp' })
    expect(scoped.stdout).toBe('b /tmp\n')
    expect((await supervisor().run('print(os.environ.get("A"), os.getcwd())')).stdout).toBe('None /mnt/data\n')
    const nowhere = await supervisor().run('1', { cwd: 'no-such-folder' })
    expect(nowhere.done.outcome).toBe('error')
    expect(nowhere.error).toMatchObject({ name: 'FileNotFoundError' })
  })
})
