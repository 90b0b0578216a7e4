import { atMost, same, type Bar, type Finding, type Form } from './bar.ts'
import { nextCall, timed, until, watchWhile, type Cell, type Ground } from './ground.ts'

const py = String.raw

const SHORT = ['fork of orphans', 'threads']

/** Each fills the table of processes in its own way and never ends by itself. */
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

/** The processes and threads that a sandbox with an idle kernel has, with room for some that are just ending. */
const IDLE_TASKS = 16

/** Its cell ends at once, and what it left goes on to fill the table. */
const LEFT_BEHIND = py`
subprocess.Popen([sys.executable, "-c", """
import os
while True:
    try: os.fork()
    except OSError: pass
"""], start_new_session=True)`

async function drop(cell: Cell, name: string, code: string, form: Form): Promise<readonly Finding[]> {
  const { result, looks } = await watchWhile(cell.run(code, 1), () => timed(() => cell.health()))
  const cleaned = await until(async () => (await cell.tasks()) <= IDLE_TASKS, 20_000)
  return [
    same(`${name}: ends`, result.status, 'timed_out'),
    atMost(form, `${name}: slowest answer of the supervisor`, Math.max(...looks.map(({ ms }) => ms)), 500, 'ms'),
    atMost(form, `${name}: processes gone after the end`, cleaned, 1_000, 'ms'),
    same(`${name}: fault of the next call`, await nextCall(cell), null),
  ]
}

export const processes: Bar = {
  id: 'C-20',
  title: 'fork and thread bombs',
  async measure(ground: Ground, form: Form) {
    const cell = await ground.shared()
    const { boot_nonce: born } = await cell.health()
    const findings: Finding[] = []
    const bombs = Object.entries(BOMBS).filter(([name]) => form === 'long' || SHORT.includes(name))
    for (const [name, code] of bombs) findings.push(...(await drop(cell, name, code, form)))
    findings.push(same('left behind: ends', (await cell.run(LEFT_BEHIND)).status, 'succeeded'))
    await until(async () => (await cell.tasks()) > 0.78 * ground.processes, 10_000)
    const next = await cell.run('x = 2\nprint(subprocess.run(["echo", "42"], capture_output=True, text=True).stdout, end="")')
    findings.push(same('left behind: the next call works', [next.status, next.stdout], ['succeeded', '42\n']))
    findings.push(
      same(
        'left behind: it says what was ended',
        next.lost.map(({ what }) => what),
        ['processes'],
      ),
    )
    findings.push(same('supervisor outlived all of them', (await cell.health()).boot_nonce, born))
    return findings
  },
}
