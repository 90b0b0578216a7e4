import { atMost, same, type Threshold, type Finding } from './threshold.ts'
import type { Form } from './harness.ts'
import { inLanes, nextCall, reportsLostVariables, timed, type LimitHarness } from './harness.ts'

const py = String.raw
const TIMES: Record<Form, number> = { short: 1, long: 20 }
const LANES: Record<Form, number> = { short: 1, long: 2 }

/** Ways in which code ends its kernel. */
const DEATHS: Readonly<Record<string, string>> = {
  'os._exit': 'os._exit(3)',
  'exit system call': 'import ctypes; ctypes.CDLL(None).syscall(231, 4)',
  'C exit': 'import ctypes; ctypes.CDLL(None).exit(5)',
  abort: 'os.abort()',
  'segmentation fault': 'import ctypes; ctypes.string_at(0)',
  'write to code': 'import ctypes; ctypes.memset(id(int), 0, 4096)',
  'bus error': py`
import mmap
fd = os.memfd_create("x"); os.ftruncate(fd, 4096); m = mmap.mmap(fd, 4096); os.ftruncate(fd, 0); m[0]`,
  'illegal instruction': 'os.kill(os.getpid(), signal.SIGILL)',
  'floating point signal': 'os.kill(os.getpid(), signal.SIGFPE)',
  'kill -9': 'os.kill(os.getpid(), signal.SIGKILL)',
  'kill -9 from a child': 'subprocess.run(["sh", "-c", "kill -9 $PPID"]); time.sleep(60)',
  'kill -9 from a thread': 'threading.Thread(target=lambda: os.kill(os.getpid(), 9)).start(); time.sleep(60)',
  'kill of all processes': 'os.kill(-1, signal.SIGKILL); os.kill(os.getpid(), 9)',
  'fatal error of the interpreter': 'import ctypes; ctypes.pythonapi.Py_FatalError(b"enough")',
  'stack overflow in C': py`
import ctypes
CMP = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)
libc, pair = ctypes.CDLL(None), (ctypes.c_int * 2)(2, 1)
sys.setrecursionlimit(10**9)
def down(a, b): return libc.qsort(pair, 2, 4, back) or 0
back = CMP(down); down(0, 0)`,
  'closing every descriptor': 'os.closerange(3, 1024); os._exit(6)',
  'closing the channel and continuing': 'os.closerange(3, 1024); time.sleep(60)',
  'fork, then exit': py`
if os.fork(): os._exit(7)
time.sleep(60)`,
  'another program in its place': 'os.execv("/usr/bin/true", ["true"])',
  'a program that stays in its place': 'os.execv("/usr/bin/sleep", ["sleep", "60"])',
  faulthandler: 'import faulthandler; faulthandler.dump_traceback_later(0.05, exit=True); time.sleep(60)',
  'a broken allocator': 'import ctypes; ctypes.CDLL(None).free(ctypes.c_void_p(1 << 20))',
}

/** The short form. The corpus of hostile programs covers the others. */
const SHORT: ReadonlySet<string> = new Set([
  ...['segmentation fault', 'kill of all processes', 'stack overflow in C', 'closing the channel and continuing'],
  ...['fork, then exit', 'a program that stays in its place'],
])

/** Errors of the cell that the kernel survives with its variables. */
const SURVIVED: Readonly<Record<string, readonly [code: string, error: string]>> = {
  'sys.exit': ['sys.exit(3)', 'SystemExit'],
  'deep recursion': ['f = lambda: f()\nf()', 'RecursionError'],
}

export const kernelDeath: Threshold = {
  id: 'C-25',
  title: 'kernel death',
  async measure(harness: LimitHarness, form: Form) {
    const cell = await harness.shared()
    const findings: Finding[] = [
      { what: 'ways', value: `${Object.keys(DEATHS).length}`, threshold: '≥ 20', holds: Object.keys(DEATHS).length >= 20 },
    ]
    const ways = Object.entries(DEATHS).filter(([name]) => form === 'long' || SHORT.has(name))
    await inLanes(harness, LANES[form], ways, async (own, [name, code]) => {
      let slowest = 0
      const seen = []
      for (let time = 0; time < TIMES[form]; time++) {
        const { ms, result } = await timed(() => own.run(code, 30))
        slowest = Math.max(slowest, ms)
        seen.push([result.status, result.reason, reportsLostVariables(result), await nextCall(own)])
      }
      findings.push(
        same(
          `${name}: ${TIMES[form]} typed, reported, and the next call works`,
          [...new Set(seen.map((end) => JSON.stringify(end)))],
          [JSON.stringify(['failed', 'kernel_died', true, null])],
        ),
        atMost(form, `${name}: slowest end`, slowest, 2_000, 'ms'),
      )
    })
    for (const [name, [code, error]] of Object.entries(SURVIVED)) {
      const { status, reason, error: raised, lost } = await cell.run(`survived = 1\n${code}`, 30)
      findings.push(same(`${name}: is an error of the cell`, [status, reason, raised?.name, lost], ['failed', 'error', error, []]))
      findings.push(same(`${name}: variables`, (await cell.run('print(survived)')).stdout, '1\n'))
    }
    return findings
  },
}
