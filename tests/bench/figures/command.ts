import type { Bench } from '../bench.ts'
import { startPlainProgram, type PlainProgram } from '../sides/plain-program.ts'
import { timed } from '../sides/time.ts'
import { round, summarize } from '../statistics.ts'

const WARM_UP = 10
/** Answers each line with the milliseconds of fork, exec and wait for `true`. */
const SPAWN = `
import os, sys, time
for _ in sys.stdin:
    started = time.perf_counter()
    pid = os.fork()
    if pid == 0:
        os.execvp("true", ["true"])
    os.waitpid(pid, 0)
    print((time.perf_counter() - started) * 1000, flush=True)
`

/** Milliseconds of one fork, exec and wait. */
async function timeSpawn(program: PlainProgram): Promise<number> {
  const ms = Number(await program.measure())
  if (!(ms > 0)) throw new Error('The plain container could not run the program: the reason is above.')
  return ms
}

/** The program `true` through the whole service in a live container, compared with fork and exec in a plain container. */
export const command: Bench = {
  name: 'command',
  title: 'the program true as a command, beside fork and exec in a plain container',
  async run({ isQuick, image, server, liveContainer }) {
    const runs = isQuick ? 100 : 500
    const whole: number[] = []
    const spawns: number[] = []
    await using program = startPlainProgram(image, SPAWN)
    for (let run = -WARM_UP; run < runs; run++) {
      const ms = await timed(async () => {
        const path = `/v1/containers/${liveContainer}/commands?wait=60`
        const { status } = await server.api.json<{ readonly status: string }>('POST', path, { argv: ['true'] })
        if (status !== 'succeeded') throw new Error(`The command ended ${status}`)
      })
      const spawnMs = await timeSpawn(program)
      if (run < 0) continue
      whole.push(ms)
      spawns.push(spawnMs)
    }
    const figures = { command_ms: summarize('ms', whole), spawn_ms: summarize('ms', spawns) }
    return { figures, ratios: { command_vs_spawn: round(figures.command_ms.median / figures.spawn_ms.median) } }
  },
}
