import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { ensureSandboxImage } from '../../../scripts/setup/sandbox-image.ts'
import { startServer, type LocalServerProcess } from '../../support/local-server.ts'
import { createHistory, type History, type Job } from '../history.ts'
import { restartEngine } from '../harness/restart-engine.ts'
import type { Scenario } from './scenario.ts'

const CONTAINERS = 5
const JOBS_EACH = 12
const KILLS = 4
const BETWEEN_MS = 1_500
const LINES = 4

/** Python that appends its marker to a file and to a variable, and prints lines with the marker. */
const codeOf = (marker: string): string => `
import time
runs = globals().get("runs", []) + ["${marker}"]
open("ran.txt", "a").write("${marker}\\n")
for line in range(${LINES}):
    print("${marker}", line, flush=True)
    time.sleep(0.05)
`

async function acceptAll(server: LocalServerProcess, history: History): Promise<readonly Job[]> {
  const jobs: Job[] = []
  for (let index = 0; index < CONTAINERS; index++) {
    const container = await server.native.createContainer(`chaos ${index}`)
    for (let number = 0; number < JOBS_EACH; number++) {
      const marker = `m${index}x${number}`
      const { id } = await server.native.run(container, codeOf(marker), 0)
      const stdout = Array.from({ length: LINES }, (_, line) => `${marker} ${line}\n`).join('')
      const job: Job = { tenant: 'dev', container, execution: id, marker, stdout, file: null }
      jobs.push(job)
      history.add({ type: 'requested', job })
      history.add({ type: 'accepted', execution: id })
    }
  }
  return jobs
}

/** Compares the results, files and kernel variables with the expected ones. */
async function verify(server: LocalServerProcess, history: History, jobs: readonly Job[]): Promise<readonly string[]> {
  const failures: string[] = []
  for (const job of jobs) {
    const { status, reason, stdout } = await server.native.ended(job.execution)
    const fields = {
      tenant: job.tenant,
      id: job.execution,
      containerId: job.container,
      reason: null,
      fence: 0,
      sandboxId: null,
      endedAt: 1,
    }
    history.add({ type: 'row', row: { ...fields, status: status === 'succeeded' ? 'succeeded' : 'failed' }, owner: null, result: stdout })
    if (status !== 'succeeded') failures.push(`${job.execution} ended ${status} ${reason}`)
    else if (stdout !== job.stdout) failures.push(`${job.execution} printed ${JSON.stringify(stdout)}`)
  }
  for (const container of new Set(jobs.map((job) => job.container))) {
    const expected = jobs.filter((job) => job.container === container).map((job) => job.marker)
    const check = await server.native.run(container, 'print(open("ran.txt").read().split() == runs, " ".join(runs))')
    if (check.stdout.trim() !== `True ${expected.join(' ')}`)
      failures.push(`${container} ran ${check.stdout} instead of ${expected.join(' ')}`)
  }
  return failures
}

/** Kills the whole server with SIGKILL during its work and restarts it on the same data folder; with real sandboxes. */
export const server: Scenario = {
  name: 'server',
  thresholds: ['D-30', 'D-42'],
  needsSandboxes: true,
  async run({ scale, log, allowEngineRestart = false }) {
    await ensureSandboxImage(log)
    const dataDir = await mkdtemp(join(tmpdir(), 'cellblock-chaos-'))
    const history = createHistory()
    let current = await startServer({ dataDir })
    try {
      const jobs = await acceptAll(current, history)
      const kills = Math.max(1, Math.round(KILLS * scale))
      for (let kill = 0; kill < kills; kill++) {
        await delay(BETWEEN_MS)
        await current.kill()
        history.add({ type: 'killed', worker: String(current.pid), at: 'SIGKILL of the server' })
        current = await startServer({ dataDir })
      }
      const failures = [...(await verify(current, history, jobs))]
      if (allowEngineRestart) failures.push(...(await surviveEngineRestart(current, log)))
      log(`server: ${jobs.length} jobs, ${kills} kills`)
      return { histories: [history], failures, figures: { server_kills: kills } }
    } finally {
      await current.stop()
      await rm(dataDir, { recursive: true, force: true })
    }
  },
}

/** Only with `--engine`, because it stops every container on this machine. */
async function surviveEngineRestart({ native }: LocalServerProcess, log: (line: string) => void): Promise<readonly string[]> {
  const container = await native.createContainer('engine')
  const { id } = await native.run(container, 'import time; time.sleep(5); print("over")', 0)
  await restartEngine()
  const began = performance.now()
  const { status, reason } = await native.ended(id)
  const after = await native.run(container, 'print(1)')
  const seconds = (performance.now() - began) / 1000
  log(`engine: the job ended ${status} ${reason}, the next one ${after.status} ${seconds.toFixed(0)} s after the restart`)
  return after.status === 'succeeded' && seconds <= 60
    ? []
    : [`the engine's restart was not recovered from: ${after.status} after ${seconds} s`]
}
