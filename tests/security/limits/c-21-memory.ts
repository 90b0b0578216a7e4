import { atMost, same, type Threshold, type Finding } from './threshold.ts'
import type { Form } from './harness.ts'
import { availableMemory, nextCall, reportsLostVariables, timed, sampleWhile, type TestContainer, type LimitHarness } from './harness.ts'

const py = String.raw

/** Part of the short form. The corpus of hostile programs covers a growing heap. */
const SHORT = ['many processes']

/** Each allocates memory in another way until it is killed. */
const BOMBS: Readonly<Record<string, string>> = {
  heap: py`
x = []
while True: x.append(bytearray(b"x") * (16 << 20))`,
  'many processes': py`
for _ in range(8):
    if os.fork() == 0:
        x = []
        while True: x.append(bytearray(b"x") * (4 << 20))
while True: time.sleep(1)`,
  'shared mapping': py`
import mmap
m = mmap.mmap(-1, 8 << 30)
page = b"x" * (1 << 20)
while True: m.write(page)`,
  'files in memory, then the heap': py`
held = []
for place in ("/tmp", "/dev/shm", "/home/worker"):
    f = open(place + "/x", "wb", buffering=0); os.unlink(f.name); held.append(f)
    try:
        while True: f.write(bytes(1 << 20))
    except OSError: pass
x = []
while True: x.append(bytearray(b"x") * (16 << 20))`,
  'anonymous files': py`
fds = []
while True:
    fd = os.memfd_create("x"); fds.append(fd)
    os.write(fd, bytes(16 << 20))`,
}

/** Resources with a smaller limit, which is reached before the memory limit. */
const BOUNDED: Readonly<Record<string, readonly [code: string, stdout: string]>> = {
  pipes: [
    py`
import fcntl
ends, n = [], 0
try:
    while True:
        ends.append(os.pipe()); os.set_blocking(ends[-1][1], False)
        try: fcntl.fcntl(ends[-1][1], 1031, 1 << 20)
        except OSError: pass
        try:
            while True: n += os.write(ends[-1][1], bytes(1 << 16))
        except BlockingIOError: pass
except OSError as e: print(e.strerror, n < 1 << 30)
for pair in ends:
    for fd in pair: os.close(fd)`,
    'Too many open files True\n',
  ],
  'shared memory': [
    py`
n, f = 0, open("/dev/shm/x", "wb", buffering=0)
os.unlink("/dev/shm/x")
try:
    while True: n += f.write(bytes(1 << 20))
except OSError as e: print(e.strerror, n <= 128 << 20)
f.close()`,
    'No space left on device True\n',
  ],
}

async function runBomb(cell: TestContainer, name: string, code: string, form: Form): Promise<readonly Finding[]> {
  const before = await availableMemory()
  const {
    result: { ms, result },
    samples,
  } = await sampleWhile(
    timed(() => cell.run(code, 60)),
    async () => ({ free: await availableMemory(), at: performance.now() }),
    50,
  )
  const ended = performance.now()
  const lowest = samples.reduce((least, sample) => (sample.free < least.free ? sample : least))
  return [
    same(`${name}: ends`, [result.status, result.reason, reportsLostVariables(result)], ['failed', 'oom', true]),
    atMost(form, `${name}: time until then`, ms, 3_000, 'ms'),
    // Filling the memory depends on the machine's speed; the time from then on depends on the supervisor.
    atMost(form, `${name}: of it since the memory was lowest`, ended - lowest.at, 3_000, 'ms'),
    // Other suites use the host's memory too while the short form runs.
    ...(form === 'long' ? [atMost(form, `${name}: share of the host's free memory taken`, 1 - lowest.free / before, 0.2, '')] : []),
    same(`${name}: failure of the next call`, await nextCall(cell), null),
  ]
}

export const memory: Threshold = {
  id: 'C-21',
  title: 'memory bombs',
  async measure(harness: LimitHarness, form: Form) {
    const cell = await harness.shared()
    const { boot_nonce: bootNonce } = await cell.health()
    const findings: Finding[] = []
    for (const [name, code] of Object.entries(BOMBS).filter(([name]) => form === 'long' || SHORT.includes(name)))
      findings.push(...(await runBomb(cell, name, code, form)))
    for (const [name, [code, stdout]] of Object.entries(BOUNDED)) {
      findings.push(same(`${name}: its own limit stops it`, (await cell.run(code)).stdout, stdout))
      findings.push(same(`${name}: failure of the next call`, await nextCall(cell), null))
    }
    findings.push(same('supervisor survived all of them', (await cell.health()).boot_nonce, bootNonce))
    return findings
  },
}
