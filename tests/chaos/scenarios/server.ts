import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { ensureSandboxImage } from '../../../scripts/sandbox-image.ts'
import { startServer, type LocalServerProcess } from '../../support/local-server.ts'
import { createHistory, type History, type Job } from '../history.ts'
import { restartEngine } from '../world/restart-engine.ts'
import type { Scenario } from './scenario.ts'

const CONTAINERS = 5
const JOBS_EACH = 12
const KILLS = 4
const BETWEEN_MS = 1_500
const LINES = 4

/** Python that leaves a mark in a file and in memory each time it runs, and says lines that are only its own. */
const codeOf = (mark: string): string => `
import time
runs = globals().get("runs", []) + ["${mark}"]
open("ran.txt", "a").write("${mark}\\n")
for line in range(${LINES}):
    print("${mark}", line, flush=True)
    time.sleep(0.05)
`

async function acceptAll(server: LocalServerProcess, history: History): Promise<readonly Job[]> {
  const jobs: Job[] = []
  for (let index = 0; index < CONTAINERS; index++) {
    const container = await server.native.createContainer(`chaos ${index}`)
    for (let number = 0; number < JOBS_EACH; number++) {
      const mark = `m${index}x${number}`
      const { id } = await server.native.run(container, codeOf(mark), 0)
      const stdout = Array.from({ length: LINES }, (_, line) => `${mark} ${line}\n`).join('')
      const job: Job = { tenant: 'dev', container, execution: id, mark, stdout, file: null }
      jobs.push(job)
      history.add({ type: 'asked', job })
      history.add({ type: 'accepted', execution: id })
    }
  }
  return jobs
}

/** What a client finds, and what the kernels remember. */
async function look(server: LocalServerProcess, history: History, jobs: readonly Job[]): Promise<readonly string[]> {
  const complaints: string[] = []
  for (const job of jobs) {
    const { status, reason, stdout } = await server.native.ended(job.execution)
    const facts = { tenant: job.tenant, id: job.execution, containerId: job.container, reason: null, fence: 0, sandboxId: null, endedAt: 1 }
    history.add({ type: 'row', row: { ...facts, status: status === 'succeeded' ? 'succeeded' : 'failed' }, owner: null, said: stdout })
    if (status !== 'succeeded') complaints.push(`${job.execution} ended ${status} ${reason}`)
    else if (stdout !== job.stdout) complaints.push(`${job.execution} said ${JSON.stringify(stdout)}`)
  }
  for (const container of new Set(jobs.map((job) => job.container))) {
    const expected = jobs.filter((job) => job.container === container).map((job) => job.mark)
    const said = await server.native.run(container, 'print(open("ran.txt").read().split() == runs, " ".join(runs))')
    if (said.stdout.trim() !== `True ${expected.join(' ')}`)
      complaints.push(`${container} ran ${said.stdout} instead of ${expected.join(' ')}`)
  }
  return complaints
}

/** The whole server with real sandboxes, ended by SIGKILL in the middle of its work and started again on its folder. */
export const server: Scenario = {
  name: 'server',
  bars: ['D-30', 'D-42'],
  needsSandboxes: true,
  async run({ scale, say, mayTouchEngine = false }) {
    await ensureSandboxImage(say)
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
      const complaints = [...(await look(current, history, jobs))]
      if (mayTouchEngine) complaints.push(...(await outliveEngine(current, say)))
      say(`server: ${jobs.length} jobs, ${kills} kills`)
      return { histories: [history], faults: complaints, figures: { server_kills: kills } }
    } finally {
      await current.stop()
      await rm(dataDir, { recursive: true, force: true })
    }
  },
}

/** Only with `--engine`: everybody's containers on this machine end with it. */
async function outliveEngine({ native }: LocalServerProcess, say: (line: string) => void): Promise<readonly string[]> {
  const container = await native.createContainer('engine')
  const { id } = await native.run(container, 'import time; time.sleep(5); print("over")', 0)
  await restartEngine()
  const began = performance.now()
  const { status, reason } = await native.ended(id)
  const after = await native.run(container, 'print(1)')
  const seconds = (performance.now() - began) / 1000
  say(`engine: the job ended ${status} ${reason}, the next one ${after.status} ${seconds.toFixed(0)} s after the restart`)
  return after.status === 'succeeded' && seconds <= 60
    ? []
    : [`the engine's restart was not recovered from: ${after.status} after ${seconds} s`]
}
