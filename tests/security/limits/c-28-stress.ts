import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ensureBaseImage } from '../../../scripts/setup/base-image.ts'
import { explainFailure, runCommand } from '../../../scripts/setup/command.ts'
import { readSetupConfig } from '../../../scripts/setup/config.ts'
import { percentile, same, type Threshold, type Finding } from './threshold.ts'
import { nextCall, timed, until, type TestContainer, type LimitHarness } from './harness.ts'

const py = String.raw
const SWEEP_SECONDS = 600
const MIN_STRESSORS = 100
/** A stressor's exit code, or a typed reason of the execution. */
const TYPED_END = /^(succeeded, exit (\d+|-\d+|never)|failed (oom|kernel_died|disk_full|error)|timed_out deadline)$/
const FOLDER = join(import.meta.dirname, 'stress-ng')

/** stress-ng and its libraries as one archive. The sandbox has no package manager, so the archive is uploaded as a user's file. */
async function stressArchive(): Promise<Uint8Array<ArrayBuffer>> {
  const config = readSetupConfig()
  const base = await ensureBaseImage(config, true, () => undefined)
  const tag = 'cellblock-test:stress-ng'
  const buildArguments = Object.entries({ ...config.buildArguments, BASE: base }).flatMap(([name, value]) => [
    '--build-arg',
    `${name}=${value}`,
  ])
  await dockerOrThrow(['build', '--force-rm', ...buildArguments, '--tag', tag, FOLDER])
  const work = await mkdtemp(join(tmpdir(), 'cellblock-stress-'))
  try {
    const container = (await dockerOrThrow(['create', tag, 'never-started'])).trim()
    await dockerOrThrow(['cp', `${container}:/stress.tar`, join(work, 'stress.tar')])
    await dockerOrThrow(['rm', container])
    await dockerOrThrow(['rmi', tag])
    return new Uint8Array(await readFile(join(work, 'stress.tar')))
  } finally {
    await rm(work, { recursive: true, force: true })
  }
}

async function dockerOrThrow(parameters: readonly string[]): Promise<string> {
  const result = await runCommand('docker', parameters, { env: { ...process.env, BUILDKIT_PROGRESS: 'plain', BUILDX_BUILDER: 'default' } })
  if (result.code !== 0) throw explainFailure(`docker ${parameters[0]} failed. See the output above.`, result)
  return result.stdout
}

const UNPACK = py`
import tarfile
tarfile.open("/mnt/data/stress.tar").extractall("/tmp/stress", filter="data"); os.unlink("/mnt/data/stress.tar")
env = {**os.environ, "LD_LIBRARY_PATH": "/tmp/stress", "TMPDIR": "/tmp"}
out = subprocess.run(["/tmp/stress/stress-ng", "--stressors"], capture_output=True, text=True, env=env)
print(out.stdout)`

/** Runs one stressor in one call. */
const stress = (name: string, seconds: number): string => py`
env = {**os.environ, "LD_LIBRARY_PATH": "/tmp/stress"}
os.makedirs("/tmp/work", exist_ok=True)
try:
    done = subprocess.run(["/tmp/stress/stress-ng", "--${name}", "2", "--timeout", "${seconds}", "--temp-path", "/tmp/work", "--oom-avoid"], capture_output=True, text=True, env=env, timeout=${seconds + 10})
    print("exit", done.returncode)
except subprocess.TimeoutExpired: print("exit never")`

async function upload(harness: LimitHarness, cell: TestContainer, bytes: Uint8Array<ArrayBuffer>): Promise<void> {
  const form = new FormData()
  form.append('file', new Blob([bytes]), 'stress.tar')
  const answer = await harness.client.call('POST', `/v1/containers/${cell.containerId}/files`, form)
  if (!answer.ok) throw new Error(`The upload failed with ${answer.status}: ${await answer.text()}`)
}

export const stressSweep: Threshold = {
  id: 'C-28',
  title: 'ten minutes of stress-ng in a sandbox',
  isLong: true,
  async measure(harness: LimitHarness) {
    const [cell, other] = [await harness.cell(), await harness.shared()]
    await upload(harness, cell, await stressArchive())
    const listed = await cell.run(UNPACK, 120)
    const names = listed.stdout
      .trim()
      .split(/\s+/)
      .filter((name) => /^[a-z0-9-]+$/.test(name))
    const seconds = Math.max(1, Math.floor(SWEEP_SECONDS / Math.max(names.length, 1)))
    const { boot_nonce: bootNonce } = await cell.health()
    const ends = new Map<string, number>()
    const failures: string[] = []
    const replyTimes: number[] = []
    for (const name of names) {
      const { status, reason, stdout } = await cell.run(stress(name, seconds), seconds + 30)
      const end = reason === null ? `${status}, ${stdout.trim()}` : `${status} ${reason}`
      ends.set(end, (ends.get(end) ?? 0) + 1)
      const failure = await nextCall(cell)
      if (failure !== null) failures.push(`${name}: ${failure}`)
      const { ms, result } = await timed(() => other.run('print(1)'))
      if (result.stdout !== '1\n') failures.push(`${name}: the other sandbox ${result.status} ${result.reason}`)
      replyTimes.push(ms)
    }
    const findings: Finding[] = [
      { what: 'stressors', value: `${names.length}`, threshold: `≥ ${MIN_STRESSORS}`, holds: names.length >= MIN_STRESSORS },
      {
        what: 'ends',
        value: JSON.stringify(Object.fromEntries(ends)),
        threshold: 'typed',
        holds: [...ends.keys()].every((end) => TYPED_END.test(end)),
      },
      same('failures of the next call, here and in the other sandbox', failures, []),
      same('supervisor survived all of them', (await cell.health()).boot_nonce, bootNonce),
      {
        what: 'other sandbox: p99 of a concurrent call',
        value: `${Math.round(percentile(replyTimes, 0.99))} ms`,
        threshold: '≤ 5000 ms',
        holds: percentile(replyTimes, 0.99) <= 5_000,
      },
    ]
    await cell.remove()
    findings.push(same('sandbox removed afterwards', (await until(async () => !(await cell.isThere()), 60_000)) < 60_000, true))
    return findings
  },
}
