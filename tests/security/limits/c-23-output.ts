import { atMost, same, type Threshold, type Finding } from './threshold.ts'
import type { Form } from './harness.ts'
import type { WireExecution } from '../../support/native-client.ts'
import { nextCall, timed, sampleWhile, type TestContainer, type LimitHarness } from './harness.ts'

const py = String.raw
const MiB = 1024 * 1024
const GiB = 1024 * MiB
/** Many times each cap. */
const SHORT_BYTES = 64 * MiB
/** The kept head and tail of a stream. */
const CAP_BYTES = MiB + 64 * 1024

interface Flood {
  readonly code: (bytes: number) => string
  /** The baseline: the same bytes discarded, by a reader of the pipe if there is one. */
  readonly discarded: (bytes: number) => string
  /** The truncated stream. */
  readonly stream: 'stdout' | 'stderr' | 'display'
}

/** Flood and baseline alternate at least `min` times and for `ms`. The best times are compared, so that other load affects neither. */
const PAIRS: Record<Form, { readonly min: number; readonly ms: number }> = { short: { min: 1, ms: 0 }, long: { min: 5, ms: 10_000 } }

/** The same writes through the same text layer into /dev/null. */
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
    discarded: textSink,
  },
  'a grandchild to descriptor 1': {
    stream: 'stdout',
    code: (bytes) => py`${grandchild(bytes)}
subprocess.run(["bash", "-c", 'python3 -c "$1"; true', "flood", inner], check=True, stdout=1)`,
    discarded: (bytes) => py`${grandchild(bytes)}
subprocess.run(["bash", "-c", 'python3 -c "$1" | cat > /dev/null', "flood", inner], check=True)`,
  },
  'print to stderr': {
    stream: 'stderr',
    code: (bytes) => py`
block = ("x" * 1023 + "\n") * 64
for _ in range(${bytes} // len(block)): sys.stderr.write(block)`,
    discarded: textSink,
  },
  displays: {
    stream: 'display',
    code: (bytes) => py`
from IPython.display import display
block = "x" * (4 << 20)
for _ in range(${bytes} // len(block)): display({"text/plain": block}, raw=True)`,
    // What a kernel writes to be rid of a display is at min its message.
    discarded: (bytes) => py`
import json
block = "x" * (4 << 20)
with open(os.devnull, "w") as sink:
    for _ in range(${bytes} // len(block)): sink.write(json.dumps({"data": {"text/plain": block}}))`,
  },
}

type Usage = WireExecution['usage']
const usageOf = async (cell: TestContainer, code: string): Promise<Usage> => (await cell.run(code, 1_800)).usage
const min = (usages: readonly Usage[], what: 'run_ms' | 'cpu_ms'): number => Math.min(...usages.map((usage) => usage[what] ?? Infinity))

function compared(form: Form, what: string, ms: number, discardedMs: number): Finding {
  const finding = atMost(form, what, ms / discardedMs, 1.5, '×')
  return { ...finding, value: `${finding.value} (${Math.round(ms)} over ${Math.round(discardedMs)} ms)` }
}

async function flood(cell: TestContainer, name: string, bytes: number, form: Form): Promise<readonly Finding[]> {
  const { code, discarded: sink, stream } = FLOODS[name] as Flood
  const before = await cell.supervisorBytes()
  const { result, samples } = await sampleWhile(
    timed(() => cell.run(code(bytes), 1_800)),
    () => cell.supervisorBytes(),
    100,
  )
  const execution = result.result
  const [times, discarded] = [[execution.usage], [await usageOf(cell, sink(bytes))]]
  const began = performance.now()
  while (times.length < PAIRS[form].min || performance.now() - began < PAIRS[form].ms) {
    times.push(await usageOf(cell, code(bytes)))
    discarded.push(await usageOf(cell, sink(bytes)))
  }
  const kept = stream === 'display' ? JSON.stringify(execution.outputs).length : Buffer.byteLength(execution[stream])
  const reason = execution.lost.find(({ what }) => what === stream)?.reason ?? ''
  const counted = Number(/of (\d+) bytes/.exec(reason)?.[1])
  const label = `${name}, ${bytes / GiB} GiB`
  return [
    same(`${label}: ends`, execution.status, 'succeeded'),
    atMost(form, `${label}: kept`, kept, stream === 'display' ? 24 * MiB : CAP_BYTES + 1024, 'bytes'),
    stream === 'display'
      ? { what: `${label}: bytes counted`, value: `${counted}`, threshold: `≥ ${bytes}`, holds: counted >= bytes }
      : same(`${label}: bytes counted`, counted, bytes),
    // The wall time of a short flood depends on the other load of the machine.
    ...(form === 'long'
      ? [compared(form, `${label}: time relative to discarding it`, min(times, 'run_ms'), min(discarded, 'run_ms'))]
      : []),
    compared(form, `${label}: processor time relative to discarding it`, min(times, 'cpu_ms'), min(discarded, 'cpu_ms')),
    atMost(form, `${label}: growth of the supervisor`, Math.max(...samples) - before, 32 * MiB, 'bytes'),
    same(`${label}: failure of the next call`, await nextCall(cell), null),
  ]
}

export const output: Threshold = {
  id: 'C-23',
  title: 'floods of output',
  async measure(harness: LimitHarness, form: Form) {
    const cell = await harness.shared()
    const findings: Finding[] = []
    const names = Object.keys(FLOODS)
    for (const name of form === 'short' ? names.slice(0, 2) : names)
      findings.push(...(await flood(cell, name, form === 'short' ? SHORT_BYTES : GiB, form)))
    if (form === 'long') for (const name of names.slice(0, 2)) findings.push(...(await flood(cell, name, 10 * GiB, form)))
    findings.push(atMost(form, 'bytes on the host’s disk', await cell.hostBytes(), MiB, 'bytes'))
    return findings
  },
}
