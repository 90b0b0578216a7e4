import { atMost, same, type Threshold, type Finding } from './threshold.ts'
import type { Form } from './harness.ts'
import { nextCall, until, type TestContainer, type LimitHarness } from './harness.ts'

const py = String.raw
const MiB = 1024 * 1024
/** Larger file systems are filled in the long form only. */
const SHORT_BYTES = 64 * MiB

/** Finds one writable folder per file system, with the size of the file system. */
const PLACES = py`
import json
seen = {}
for place, folders, _ in os.walk("/"):
    if place in ("/proc", "/sys"): folders.clear()
    try:
        probe = os.path.join(place, ".probe"); os.close(os.open(probe, os.O_CREAT | os.O_EXCL)); os.unlink(probe)
        v = os.statvfs(place); seen.setdefault(os.stat(place).st_dev, [place, v.f_blocks * v.f_frsize])
    except OSError: pass
print(json.dumps(list(seen.values())))`

const fill = (place: string): string => py`
n, i, held, why = 0, 0, [], None
while why in (None, 27):
    f = open(f"${place}/fill{i}", "wb", buffering=0); held.append(f); i += 1
    try:
        while True: n += f.write(bytes(1 << 20))
    except OSError as e: why = e.errno
print(why, n)
for f in held: f.close(); os.unlink(f.name)`

const inodes = (place: string): string => py`
n, why = 0, None
os.mkdir("${place}/many")
try:
    while n < 1_000_000: os.close(os.open(f"${place}/many/{n}", os.O_CREAT)); n += 1
except OSError as e: why = e.errno
print(why, n <= 200_000)
import shutil; shutil.rmtree("${place}/many")`

/** The cell fails as `disk_full` and keeps its variables. */
const RAISES = py`
kept = 7
f = open("/home/worker/full", "wb", buffering=0)
while True: f.write(bytes(1 << 20))`

async function fillPlace(cell: TestContainer, place: string, size: number): Promise<readonly Finding[]> {
  const filled = await cell.run(fill(place), 120)
  const [why, bytes] = filled.stdout.trim().split(' ').map(Number)
  return [
    same(`${place}: ends in ENOSPC`, why, 28),
    { what: `${place}: bytes written`, value: `${bytes}`, threshold: `≤ ${size + MiB}`, holds: (bytes ?? Infinity) <= size + MiB },
    same(`${place}: failure of the next call`, await nextCall(cell), null),
  ]
}

export const disk: Threshold = {
  id: 'C-22',
  title: 'disk and inodes, in every writable place',
  async measure(harness: LimitHarness, form: Form) {
    const cell = await harness.cell()
    const places = JSON.parse((await cell.run(PLACES)).stdout) as readonly (readonly [string, number])[]
    const findings: Finding[] = [
      same('writable places', places.map(([place]) => place).toSorted(), ['/dev/shm', '/home/worker', '/mnt/data', '/run/worker', '/tmp']),
    ]
    for (const [place, size] of places) {
      if (form === 'short' && size > SHORT_BYTES) continue
      findings.push(...(await fillPlace(cell, place, size)))
      // Other folders need up to a million files, so the short form omits them.
      if (form === 'short' && place !== '/run/worker') continue
      findings.push(same(`${place}: inodes end in ENOSPC`, (await cell.run(inodes(place), 600)).stdout, '28 True\n'))
      findings.push(same(`${place}: failure of the call after`, await nextCall(cell), null))
    }
    const full = await cell.run(RAISES, 120)
    findings.push(same('an exception out of a full disk', [full.status, full.reason], ['failed', 'disk_full']))
    const after = await cell.run('f.close(); os.unlink("/home/worker/full")\nprint(kept)')
    findings.push(same('its variables stay', after.stdout, '7\n'))
    findings.push(atMost(form, 'bytes on the host’s disk', await cell.hostBytes(), MiB, 'bytes'))
    await cell.remove()
    findings.push(atMost(form, 'sandbox removed after the end', await until(async () => !(await cell.isThere()), 60_000), 5_000, 'ms'))
    return findings
  },
}
