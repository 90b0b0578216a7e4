import { setTimeout as pause } from 'node:timers/promises'
import { SERVER_LABEL } from '../../../services/adapters/drivers/docker/remove-orphaned-sandboxes.ts'
import type { Bench } from '../bench.ts'
import { docker } from '../sides/docker.ts'
import { onGvisor } from '../on-gvisor.ts'
import { PlainCheckpoint } from '../sides/plain-checkpoint.ts'
import { timed } from '../sides/time.ts'
import { quantile, round, summarize } from '../statistics.ts'

/** With all that runs beside it in its sandbox, a checkpoint of 119 MB (`checkpoint_mb`). */
const PROCESS = `import numpy, pandas, matplotlib.pyplot
frame = pandas.DataFrame({'n': numpy.arange(1_000_000)})
numbers = iter(range(1_000))`

interface Processes {
  readonly state: string
  readonly checkpoint_bytes: number | null
}

/**
 * `POST …/suspend` and the first output of the next execution, which resumes the processes, beside the same code in one process that the
 * engine and `runsc` alone write and continue, without variables, rows, a supervisor and limits. Only where gVisor is registered with the engine (`npm start --
 * --runtime gvisor` does that) and the server may use it.
 */
export const suspend: Bench = {
  name: 'suspend',
  title: 'suspending a container whose processes take 100 MB in whole on gVisor, and the first output after it',
  run: (context) =>
    onGvisor(context, async ({ api, pool, pid }, checkpoints) => {
      const container = await api.createContainer()
      await api.run(container, PROCESS)
      await pool.waitFor(1)
      await using plain = await PlainCheckpoint.start(context.image, PROCESS, checkpoints)
      // Between its measurements it uses no processor.
      await plain.suspend()
      const [suspendMs, resumeMs, megabytes]: [number[], number[], number[]] = [[], [], []]
      const [checkpointMs, restoreMs, plainMegabytes]: [number[], number[], number[]] = [[], [], []]
      for (let run = 0; run < (context.isQuick ? 5 : 40); run++) {
        let suspended: Processes | null = null
        suspendMs.push(await timed(async () => (suspended = await api.json('POST', `/v1/containers/${container}/suspend`))))
        megabytes.push(bytesOf(suspended) / 1e6)
        await untilEnded(pid)
        resumeMs.push(await timed(() => api.run(container, `assert next(numbers) == ${run}`)))
        restoreMs.push(await plain.resume())
        const written = await plain.suspend()
        checkpointMs.push(written.ms)
        plainMegabytes.push(written.bytes / 1e6)
      }
      const figures = {
        suspend_ms: summarize('ms', suspendMs),
        resume_ms: summarize('ms', resumeMs),
        checkpoint_mb: summarize('MB', megabytes),
        plain_checkpoint_ms: summarize('ms', checkpointMs),
        plain_restore_ms: summarize('ms', restoreMs),
        plain_checkpoint_mb: summarize('MB', plainMegabytes),
      }
      return {
        figures,
        ratios: {
          suspend_p95_ms: quantile(suspendMs, 0.95),
          resume_p95_ms: quantile(resumeMs, 0.95),
          suspend_vs_checkpoint: round(figures.suspend_ms.median / figures.plain_checkpoint_ms.median),
          resume_vs_restore: round(figures.resume_ms.median / figures.plain_restore_ms.median),
        },
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
