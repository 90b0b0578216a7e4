import { setTimeout as pause } from 'node:timers/promises'
import { SERVER_LABEL } from '../../../services/adapters/drivers/docker/remove-orphaned-sandboxes.ts'
import type { Bench } from '../bench.ts'
import { docker } from '../sides/docker.ts'
import { onGvisor } from '../on-gvisor.ts'
import { timed } from '../sides/time.ts'
import { quantile, summarize } from '../statistics.ts'

/** With all that runs beside it in its sandbox, a checkpoint of 119 MB (`checkpoint_mb`). */
const PROCESS = `import numpy, pandas, matplotlib.pyplot
frame = pandas.DataFrame({'n': numpy.arange(1_000_000)})
numbers = iter(range(1_000))`

interface Processes {
  readonly state: string
  readonly checkpoint_bytes: number | null
}

/**
 * `POST …/suspend` and the first output of the next execution, which resumes the processes. Only where gVisor is registered with the engine (`npm start --
 * --runtime gvisor` does that) and the server may use it.
 */
export const suspend: Bench = {
  name: 'suspend',
  title: 'suspending a container whose processes take 100 MB in whole on gVisor, and the first output after it',
  run: (context) =>
    onGvisor(context, async ({ api, pool, pid }) => {
      const container = await api.createContainer()
      await api.run(container, PROCESS)
      await pool.waitFor(1)
      const [suspendMs, resumeMs, megabytes]: [number[], number[], number[]] = [[], [], []]
      for (let run = 0; run < (context.isQuick ? 5 : 20); run++) {
        let suspended: Processes | null = null
        suspendMs.push(await timed(async () => (suspended = await api.json('POST', `/v1/containers/${container}/suspend`))))
        megabytes.push(bytesOf(suspended) / 1e6)
        await untilEnded(pid)
        resumeMs.push(await timed(() => api.run(container, `assert next(numbers) == ${run}`)))
      }
      return {
        figures: {
          suspend_ms: summarize('ms', suspendMs),
          resume_ms: summarize('ms', resumeMs),
          checkpoint_mb: summarize('MB', megabytes),
        },
        ratios: { suspend_p95_ms: quantile(suspendMs, 0.95), resume_p95_ms: quantile(resumeMs, 0.95) },
      }
    }),
}

function bytesOf(processes: Processes | null): number {
  if (processes?.state !== 'suspended') throw new Error(`The container is ${processes?.state ?? 'not suspended'}.`)
  return processes.checkpoint_bytes ?? 0
}

/** Until the engine has removed what the suspended processes used. A call in these tenths of a second waits for that. */
async function untilEnded(server: number): Promise<void> {
  const filters = { label: [`${SERVER_LABEL}=${server}`], status: ['exited'] }
  while ((await docker.listContainers({ all: true, filters })).length === 0) await pause(50)
}
