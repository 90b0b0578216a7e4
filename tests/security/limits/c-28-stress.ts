import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ensureBaseImage } from '../../../scripts/setup/base-image.ts'
import { explainFailure, runCommand } from '../../../scripts/setup/command.ts'
import { readSetupConfig } from '../../../scripts/setup/config.ts'
import { percentile, same, type Bar, type Finding } from './bar.ts'
import { nextCall, timed, until, type Cell, type Ground } from './ground.ts'

const py = String.raw
const SWEEP_SECONDS = 600
const LEAST_STRESSORS = 100
const FOLDER = join(import.meta.dirname, 'stress-ng')

/** The program and its libraries as one archive: the sandbox has no package manager, so it comes in as a user's file does. */
async function stressArchive(): Promise<Uint8Array<ArrayBuffer>> {
  const config = readSetupConfig()
  const base = await ensureBaseImage(config, true, () => undefined)
  const tag = 'cellblock-test:stress-ng'
  const buildArguments = Object.entries({ ...config.buildArguments, BASE: base }).flatMap(([name, value]) => [
    '--build-arg',
    `${name}=${value}`,
  ])
  await must(['build', ...buildArguments, '--tag', tag, FOLDER])
  const work = await mkdtemp(join(tmpdir(), 'cellblock-stress-'))
  try {
    const container = (await must(['create', tag, 'never-started'])).trim()
    await must(['cp', `${container}:/stress.tar`, join(work, 'stress.tar')])
    await must(['rm', container])
    await must(['rmi', tag])
    return new Uint8Array(await readFile(join(work, 'stress.tar')))
  } finally {
    await rm(work, { recursive: true, force: true })
  }
}

async function must(parameters: readonly string[]): Promise<string> {
  const result = await runCommand('docker', parameters, { env: { ...process.env, BUILDKIT_PROGRESS: 'plain', BUILDX_BUILDER: 'default' } })
  if (result.code !== 0) throw explainFailure(`docker ${parameters[0]} failed: the reason is above.`, result)
  return result.stdout
}

const UNPACK = py`
import tarfile
tarfile.open("/mnt/data/stress.tar").extractall("/tmp/stress", filter="data"); os.unlink("/mnt/data/stress.tar")
env = {**os.environ, "LD_LIBRARY_PATH": "/tmp/stress", "TMPDIR": "/tmp"}
out = subprocess.run(["/tmp/stress/stress-ng", "--stressors"], capture_output=True, text=True, env=env)
print(out.stdout)`

/** One stressor after another, each in a call of its own, as an attacker would try them. */
const stress = (name: string, seconds: number): string => py`
env = {**os.environ, "LD_LIBRARY_PATH": "/tmp/stress"}
os.makedirs("/tmp/work", exist_ok=True)
try:
    done = subprocess.run(["/tmp/stress/stress-ng", "--${name}", "2", "--timeout", "${seconds}", "--temp-path", "/tmp/work", "--oom-avoid"], capture_output=True, text=True, env=env, timeout=${seconds + 10})
    print("exit", done.returncode)
except subprocess.TimeoutExpired: print("exit never")`

async function upload(ground: Ground, cell: Cell, bytes: Uint8Array<ArrayBuffer>): Promise<void> {
  const form = new FormData()
  form.append('file', new Blob([bytes]), 'stress.tar')
  const answer = await ground.client.call('POST', `/v1/containers/${cell.containerId}/files`, form)
  if (!answer.ok) throw new Error(`The upload answered ${answer.status}: ${await answer.text()}`)
}

export const stressSweep: Bar = {
  id: 'C-28',
  title: 'ten minutes of stress-ng inside',
  isLong: true,
  async measure(ground: Ground) {
    const [cell, beside] = [await ground.cell(), await ground.shared()]
    await upload(ground, cell, await stressArchive())
    const listed = await cell.run(UNPACK, 120)
    const names = listed.stdout
      .trim()
      .split(/\s+/)
      .filter((name) => /^[a-z0-9-]+$/.test(name))
    const seconds = Math.max(1, Math.floor(SWEEP_SECONDS / Math.max(names.length, 1)))
    const { boot_nonce: born } = await cell.health()
    const ends = new Map<string, number>()
    const faults: string[] = []
    const answers: number[] = []
    for (const name of names) {
      const { status, reason, stdout } = await cell.run(stress(name, seconds), seconds + 30)
      const end = reason === null ? `${status}, ${stdout.trim()}` : `${status} ${reason}`
      ends.set(end, (ends.get(end) ?? 0) + 1)
      const fault = await nextCall(cell)
      if (fault !== null) faults.push(`${name}: ${fault}`)
      const { ms, result } = await timed(() => beside.run('print(1)'))
      if (result.stdout !== '1\n') faults.push(`${name}: the other sandbox ${result.status} ${result.reason}`)
      answers.push(ms)
    }
    const findings: Finding[] = [
      { what: 'stressors', value: `${names.length}`, bar: `≥ ${LEAST_STRESSORS}`, holds: names.length >= LEAST_STRESSORS },
      { what: 'ends', value: JSON.stringify(Object.fromEntries(ends)), bar: 'typed', holds: true },
      same('faults of the next call, here and in the other sandbox', faults, []),
      same('supervisor outlived all of them', (await cell.health()).boot_nonce, born),
      {
        what: 'other sandbox: p99 of a call meanwhile',
        value: `${Math.round(percentile(answers, 0.99))} ms`,
        bar: '≤ 5000 ms',
        holds: percentile(answers, 0.99) <= 5_000,
      },
    ]
    await cell.remove()
    findings.push(same('sandbox gone afterwards', (await until(async () => !(await cell.isThere()), 60_000)) < 60_000, true))
    return findings
  },
}
