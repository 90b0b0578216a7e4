import { atMost, same, type Threshold, type Finding } from './threshold.ts'
import type { Form } from './harness.ts'
import { nextCall, timed, until, sampleWhile, type TestContainer, type LimitHarness } from './harness.ts'

const py = String.raw

const SHORT = ['fork of orphans', 'threads']

/** Each fills the process table in another way and never ends. */
const BOMBS: Readonly<Record<string, string>> = {
  fork: py`
while True:
    try: os.fork()
    except OSError: pass`,
  'fork of orphans': py`
while True:
    try:
        if os.fork() == 0:
            os.setsid()
            if os.fork(): os._exit(0)
    except OSError: pass`,
  threads: py`
go = threading.Event()
while True:
    try: threading.Thread(target=go.wait, daemon=True).start()
    except RuntimeError: pass`,
  shell: py`
subprocess.run(["bash", "-c", "b() { b | b & }; b; wait"], stderr=subprocess.DEVNULL)
while True: time.sleep(1)`,
  spawn: py`
while True:
    try: os.posix_spawn("/usr/bin/sleep", ["sleep", "600"], {})
    except OSError: pass`,
  'interrupted fork': py`
x = 1
def bomb():
    while True:
        try:
            if os.fork() == 0: bomb()
        except OSError: pass
if os.fork() == 0: bomb()
while True: time.sleep(0.1)`,
  'fork that ignores signals': py`
for s in range(1, 65):
    try: signal.signal(s, signal.SIG_IGN)
    except (OSError, ValueError): pass
while True:
    try: os.fork()
    except OSError: pass`,
}

/** The processes and threads of a sandbox with an idle kernel, plus a margin for those that are ending. */
const IDLE_TASKS = 16

/** The cell ends at once, and its child process fills the process table. */
const ORPHANED_BOMB = py`
subprocess.Popen([sys.executable, "-c", """
import os
while True:
    try: os.fork()
    except OSError: pass
"""], start_new_session=True)`

async function runBomb(cell: TestContainer, name: string, code: string, form: Form): Promise<readonly Finding[]> {
  const { result, samples } = await sampleWhile(cell.run(code, 1), async () => {
    const before = await cell.processorMs()
    const { ms } = await timed(() => cell.health())
    return { ms, processorMs: (await cell.processorMs()) - before }
  })
  const cleaned = await until(async () => (await cell.tasks()) <= IDLE_TASKS, 20_000)
  return [
    same(`${name}: ends`, result.status, 'timed_out'),
    slowestReply(form, name, samples),
    atMost(form, `${name}: processes gone after the end`, cleaned, 1_000, 'ms'),
    same(`${name}: failure of the next call`, await nextCall(cell), null),
  ]
}

/** Other suites take processors from the sandbox, so the short form counts what the bomb used of them until the supervisor replied. */
function slowestReply(form: Form, name: string, samples: readonly { readonly ms: number; readonly processorMs: number }[]): Finding {
  if (form === 'long') return atMost(form, `${name}: slowest reply of the supervisor`, Math.max(...samples.map(({ ms }) => ms)), 500, 'ms')
  const used = Math.max(...samples.map(({ processorMs }) => processorMs))
  return atMost(form, `${name}: processor time of the sandbox until a reply`, used, 1_000, 'ms of a processor')
}

export const processes: Threshold = {
  id: 'C-20',
  title: 'fork and thread bombs',
  async measure(harness: LimitHarness, form: Form) {
    const cell = await harness.shared()
    const { boot_nonce: bootNonce } = await cell.health()
    const findings: Finding[] = []
    const bombs = Object.entries(BOMBS).filter(([name]) => form === 'long' || SHORT.includes(name))
    for (const [name, code] of bombs) findings.push(...(await runBomb(cell, name, code, form)))
    findings.push(same('orphaned bomb: ends', (await cell.run(ORPHANED_BOMB)).status, 'succeeded'))
    // On a busy host the bomb needs a while; without it the next call has nothing to report.
    await until(async () => (await cell.tasks()) > 0.78 * harness.processes, 60_000)
    const next = await cell.run('x = 2\nprint(subprocess.run(["echo", "42"], capture_output=True, text=True).stdout, end="")')
    findings.push(same('orphaned bomb: the next call works', [next.status, next.stdout], ['succeeded', '42\n']))
    findings.push(
      same(
        'orphaned bomb: the result reports the ended processes',
        next.lost.map(({ what }) => what),
        ['processes'],
      ),
    )
    findings.push(same('supervisor survived all of them', (await cell.health()).boot_nonce, bootNonce))
    return findings
  },
}
