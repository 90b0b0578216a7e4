import { runCommand, explainFailure } from '../../../scripts/setup/command.ts'
import type { Bench } from '../bench.ts'
import { BENCH_LABEL } from '../sides/docker.ts'
import { timed } from '../sides/time.ts'
import { round, summarize } from '../statistics.ts'

const WARM_UP = 10
const SPAWN = `
import json, os, sys, time
times = []
for _ in range(int(sys.argv[1])):
    started = time.perf_counter()
    pid = os.fork()
    if pid == 0:
        os.execvp("true", ["true"])
    os.waitpid(pid, 0)
    times.append((time.perf_counter() - started) * 1000)
print(json.dumps(times))
`

/** Milliseconds of fork, exec and wait for `true` in a plain container of the image. */
async function timeSpawns(image: string, runs: number): Promise<readonly number[]> {
  const docker = ['run', '--rm', '--network', 'none', '--label', BENCH_LABEL, '--entrypoint', 'python3', image]
  const result = await runCommand('docker', [...docker, '-c', SPAWN, String(runs)])
  if (result.code !== 0) throw explainFailure('The plain container could not run the program: the reason is above.', result)
  return JSON.parse(result.stdout) as readonly number[]
}

/** The program `true` through the whole service in a live container, compared with fork and exec in a plain container. */
export const command: Bench = {
  name: 'command',
  title: 'the program true as a command, beside fork and exec in a plain container',
  async run({ isQuick, image, server, liveContainer }) {
    const runs = isQuick ? 100 : 500
    const whole: number[] = []
    for (let run = -WARM_UP; run < runs; run++) {
      const ms = await timed(async () => {
        const path = `/v1/containers/${liveContainer}/commands?wait=60`
        const { status } = await server.api.json<{ readonly status: string }>('POST', path, { argv: ['true'] })
        if (status !== 'succeeded') throw new Error(`The command ended ${status}`)
      })
      if (run >= 0) whole.push(ms)
    }
    const figures = { command_ms: summarize('ms', whole), spawn_ms: summarize('ms', await timeSpawns(image, runs)) }
    return { figures, ratios: { command_vs_spawn: round(figures.command_ms.median / figures.spawn_ms.median) } }
  },
}
