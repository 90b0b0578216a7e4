import { atMost, same, type Bar, type Finding, type Form } from './bar.ts'
import type { WireExecution } from '../../support/native-client.ts'
import { nextCall, timed, watchWhile, type Cell, type Ground } from './ground.ts'

const py = String.raw
const MiB = 1024 * 1024
const GiB = 1024 * MiB
/** Enough to pass every cap many times over. */
const SHORT_BYTES = 64 * MiB
/** Head and tail of a stream, as the product keeps them. */
const CAP_BYTES = MiB + 64 * 1024

interface Flood {
  readonly code: (bytes: number) => string
  /** What the flood is compared with: the same bytes thrown away. Where they go through a pipe, its reader does that. */
  readonly thrown: (bytes: number) => string
  /** The stream that is cut, and how much of what was written it must have counted. */
  readonly stream: 'stdout' | 'stderr' | 'display'
}

/** Both are run in turns and the best of each compared, so that what else the machine does weighs on neither: so many times, and for so long. */
const PAIRS: Record<Form, { readonly least: number; readonly ms: number }> = { short: { least: 1, ms: 0 }, long: { least: 5, ms: 10_000 } }

/** The same writes through the same layer of text, to where nobody reads. */
const textSink = (bytes: number): string => py`
block = ("x" * 1023 + "\n") * 64
with open(os.devnull, "w") as sink:
    for _ in range(${bytes} // len(block)): sink.write(block)`
const grandchild = (bytes: number): string => py`
inner = """
import os
block = (b"x" * 1023 + b"\\n") * 64
for _ in range(${bytes} // len(block)):
    v = memoryview(block)
    while v: v = v[os.write(1, v):]
"""`

const FLOODS: Readonly<Record<string, Flood>> = {
  'print to stdout': {
    stream: 'stdout',
    code: (bytes) => py`
block = ("x" * 1023 + "\n") * 64
for _ in range(${bytes} // len(block)): sys.stdout.write(block)`,
    thrown: textSink,
  },
  'a grandchild to descriptor 1': {
    stream: 'stdout',
    code: (bytes) => py`${grandchild(bytes)}
subprocess.run(["bash", "-c", 'python3 -c "$1"; true', "flood", inner], check=True, stdout=1)`,
    thrown: (bytes) => py`${grandchild(bytes)}
subprocess.run(["bash", "-c", 'python3 -c "$1" | cat > /dev/null', "flood", inner], check=True)`,
  },
  'print to stderr': {
    stream: 'stderr',
    code: (bytes) => py`
block = ("x" * 1023 + "\n") * 64
for _ in range(${bytes} // len(block)): sys.stderr.write(block)`,
    thrown: textSink,
  },
  displays: {
    stream: 'display',
    code: (bytes) => py`
from IPython.display import display
block = "x" * (4 << 20)
for _ in range(${bytes} // len(block)): display({"text/plain": block}, raw=True)`,
    // What a kernel writes to be rid of a display is at least its message.
    thrown: (bytes) => py`
import json
block = "x" * (4 << 20)
with open(os.devnull, "w") as sink:
    for _ in range(${bytes} // len(block)): sink.write(json.dumps({"data": {"text/plain": block}}))`,
  },
}

type Usage = WireExecution['usage']
const usageOf = async (cell: Cell, code: string): Promise<Usage> => (await cell.run(code, 1_800)).usage
const least = (usages: readonly Usage[], what: 'run_ms' | 'cpu_ms'): number => Math.min(...usages.map((usage) => usage[what] ?? Infinity))

function beside(form: Form, what: string, ms: number, thrownMs: number): Finding {
  const finding = atMost(form, what, ms / thrownMs, 1.5, '×')
  return { ...finding, value: `${finding.value} (${Math.round(ms)} over ${Math.round(thrownMs)} ms)` }
}

async function flood(cell: Cell, name: string, bytes: number, form: Form): Promise<readonly Finding[]> {
  const { code, thrown: sink, stream } = FLOODS[name] as Flood
  const before = await cell.supervisorBytes()
  const { result, looks } = await watchWhile(
    timed(() => cell.run(code(bytes), 1_800)),
    () => cell.supervisorBytes(),
    100,
  )
  const execution = result.result
  const [times, thrown] = [[execution.usage], [await usageOf(cell, sink(bytes))]]
  const began = performance.now()
  while (times.length < PAIRS[form].least || performance.now() - began < PAIRS[form].ms) {
    times.push(await usageOf(cell, code(bytes)))
    thrown.push(await usageOf(cell, sink(bytes)))
  }
  const kept = stream === 'display' ? JSON.stringify(execution.outputs).length : Buffer.byteLength(execution[stream])
  const said = execution.lost.find(({ what }) => what === stream)?.reason ?? ''
  const told = Number(/of (\d+) bytes/.exec(said)?.[1])
  const label = `${name}, ${bytes / GiB} GiB`
  return [
    same(`${label}: ends`, execution.status, 'succeeded'),
    atMost(form, `${label}: kept`, kept, stream === 'display' ? 24 * MiB : CAP_BYTES + 1024, 'bytes'),
    stream === 'display'
      ? { what: `${label}: bytes told`, value: `${told}`, bar: `≥ ${bytes}`, holds: told >= bytes }
      : same(`${label}: bytes told`, told, bytes),
    // Of a short flood the wall clock tells what else the machine does.
    ...(form === 'long' ? [beside(form, `${label}: time beside throwing it away`, least(times, 'run_ms'), least(thrown, 'run_ms'))] : []),
    beside(form, `${label}: processor time beside throwing it away`, least(times, 'cpu_ms'), least(thrown, 'cpu_ms')),
    atMost(form, `${label}: growth of the supervisor`, Math.max(...looks) - before, 32 * MiB, 'bytes'),
    same(`${label}: fault of the next call`, await nextCall(cell), null),
  ]
}

export const output: Bar = {
  id: 'C-23',
  title: 'floods of output',
  async measure(ground: Ground, form: Form) {
    const cell = await ground.shared()
    const findings: Finding[] = []
    const names = Object.keys(FLOODS)
    for (const name of form === 'short' ? names.slice(0, 2) : names)
      findings.push(...(await flood(cell, name, form === 'short' ? SHORT_BYTES : GiB, form)))
    if (form === 'long') for (const name of names.slice(0, 2)) findings.push(...(await flood(cell, name, 10 * GiB, form)))
    findings.push(atMost(form, 'bytes on the host’s disk', await cell.hostBytes(), MiB, 'bytes'))
    return findings
  },
}
