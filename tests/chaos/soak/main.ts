// `npm run test:soak` runs thousands of jobs on a real server with real sandboxes and compares its resources before and after. `-- --jobs 10000` or `-- --hours 4`.
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { SERVER_ENVIRONMENT, serverNodeFlags } from '../../../scripts/commands.ts'
import { readOptions } from '../../../scripts/read-options.ts'
import { ensureSandboxImage } from '../../../scripts/setup/sandbox-image.ts'
import { callNative, type NativeClient } from '../../support/native-client.ts'
import { measure, residentMiB, type Figures } from './figures.ts'

const values = readOptions('test:soak', {
  jobs: { type: 'string', default: '10000' },
  hours: { type: 'string' },
  lanes: { type: 'string', default: '4' },
  json: { type: 'boolean' },
})
const JOBS_PER_CONTAINER = 40
/** The first jobs load code and fill caches. The baseline is measured after them. */
const WARM_UP_SHARE = 0.1
/** Reported without a limit: the parts of the memory, and the pages of the table's files. */
const WITHOUT_LIMIT: ReadonlySet<keyof Figures> = new Set(['heapMiB', 'heapHeldMiB', 'outsideMiB', 'filePagesMiB'])
const FILES_SLACK = 5
const RESIDENT_GROWTH = 1.1
const MIN_SUCCESS_RATE = 0.9995
/** The time for the reconciler to remove deleted containers. */
const SETTLE_MS = 60_000

const log = (line: string): void => void process.stderr.write(`${line}\n`)
const jobs = values.hours === undefined ? Number(values.jobs) : Number.POSITIVE_INFINITY
let until = values.hours === undefined ? Number.POSITIVE_INFINITY : Date.now() + Number(values.hours) * 3_600_000
// Ctrl-C stops new jobs and prints the figures so far.
process.once('SIGINT', () => {
  until = 0
})
await ensureSandboxImage(log)
// The server has its own folder for temporary files, so that files it leaves there are counted.
const scratch = await mkdtemp(join(tmpdir(), 'cb-soak-'))
const dataDir = join(scratch, 'data')
const child = fork(join(import.meta.dirname, 'soak-child.ts'), ['--data', dataDir], {
  execArgv: ['--expose-gc', ...serverNodeFlags(process.env), '--disable-warning=ExperimentalWarning'],
  env: {
    ...process.env,
    ...SERVER_ENVIRONMENT,
    TMPDIR: scratch,
    PORT: '0',
    CELLBLOCK_API_KEY: 'ck_soak_0123456789abcdef0123456789',
    CELLBLOCK_POOL: '2',
    CELLBLOCK_SAVE_SECONDS: '0',
  },
})
const [ready] = (await once(child, 'message')) as [{ url: string; apiKey: string }]
const native = callNative(ready.url, ready.apiKey)

let done = 0
let passed = 0
/** Runs jobs with code, files and errors in one container, then deletes the container. */
async function runContainer(client: NativeClient, share: number): Promise<void> {
  const container = await client.createContainer('soak')
  for (let job = 0; job < share; job++) {
    const marker = `${container} ${job}`
    const code =
      job % 10 === 9
        ? 'raise ValueError("as asked")'
        : `open("f${job % 5}.txt", "w").write("x" * 10_000)\nruns = globals().get("runs", 0) + 1\nprint("${marker}", runs)`
    const expected = job % 10 === 9 ? 'failed' : 'succeeded'
    const hasPassed = await client.run(container, code).then(
      ({ status, stdout }) => status === expected && (expected === 'failed' || stdout === `${marker} ${job + 1 - Math.floor(job / 10)}\n`),
      () => false,
    )
    done += 1
    if (hasPassed) passed += 1
  }
  await client.call('DELETE', `/v1/containers/${container}`)
}

/** Runs `count` jobs in parallel lanes. */
async function work(count: number): Promise<void> {
  const goal = done + count
  let asked = done
  const lane = async (): Promise<void> => {
    while (asked < goal && Date.now() < until) {
      const share = Math.min(JOBS_PER_CONTAINER, goal - asked)
      asked += share
      await runContainer(native, share)
      if (done % 400 < JOBS_PER_CONTAINER)
        log(`${done} jobs, ${done - passed} failed, ${JSON.stringify(await residentMiB(child.pid ?? 0))}`)
    }
  }
  await Promise.all(Array.from({ length: Number(values.lanes) }, lane))
}

/** Measures until the deleted containers are removed and idle connections are closed. */
async function settled(like: Figures | null): Promise<Figures> {
  let figures = await measure(child, scratch)
  for (const end = Date.now() + SETTLE_MS; Date.now() < end; figures = await measure(child, scratch)) {
    const isBack = like !== null && figures.containers <= like.containers && figures.objects <= like.objects && figures.files <= like.files
    if (isBack && figures.sockets <= like.sockets && figures.timers <= like.timers) break
    await delay(2_000)
  }
  return figures
}

const failures: string[] = []
try {
  await work(Number.isFinite(jobs) ? Math.ceil(jobs * WARM_UP_SHARE) : JOBS_PER_CONTAINER * 10)
  const before = await settled(null)
  const began = performance.now()
  const doneBefore = done
  await work(jobs - done)
  const seconds = (performance.now() - began) / 1000
  const after = await settled(before)

  const rows = (Object.keys(before) as (keyof Figures)[]).map((name) => ({ name, before: before[name], after: after[name] }))
  for (const { name, before: was, after: is } of rows) {
    if (WITHOUT_LIMIT.has(name)) continue
    const limit =
      name === 'residentMiB' ? was * RESIDENT_GROWTH : name === 'files' || name === 'sockets' || name === 'timers' ? was + FILES_SLACK : was
    if (is > limit) failures.push(`${name} grew from ${was} to ${is}`)
  }
  if (passed / done < MIN_SUCCESS_RATE) failures.push(`${done - passed} of ${done} jobs failed`)
  const rate = (done - doneBefore) / seconds
  if (values.json === true)
    process.stdout.write(`${JSON.stringify({ jobs: done, passed, before, after, jobs_per_second: rate, failures })}\n`)
  else {
    process.stdout.write('| figure | after the warm-up | at the end |\n|---|---:|---:|\n')
    for (const { name, before: was, after: is } of rows) process.stdout.write(`| ${name} | ${was} | ${is} |\n`)
    process.stdout.write(`\n${done} jobs, ${passed} passed, ${rate.toFixed(1)} a second\n`)
  }
} finally {
  child.send('stop')
  await once(child, 'exit')
  await rm(scratch, { recursive: true, force: true })
}
for (const failure of failures) log(`✗ ${failure}`)
if (failures.length > 0) process.exitCode = 1
