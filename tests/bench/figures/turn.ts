import { PRINT } from '../sides/print.ts'
import type { Bench } from '../bench.ts'
import type { ExecutionAnswer } from '../sides/api-client.ts'
import { SCRIPTED_MODEL } from '../sides/server.ts'
import { timed } from '../sides/time.ts'
import { round, summarize } from '../statistics.ts'

/** The code that the scripted model runs in each turn. */
export const TURN_SCRIPT = [PRINT, PRINT] as const

interface Turn {
  readonly status: string
  readonly output: readonly { readonly type: string }[]
}

const WARM_UP = 3

/** A chat turn with two tool calls and an immediate model, compared with the time of its two executions. Excludes the model's time. */
export const turn: Bench = {
  name: 'turn',
  title: 'a chat turn with two tool calls, model answering at once, beside its executions',
  async run({ isQuick, server, model, liveContainer }) {
    const request = { model: SCRIPTED_MODEL, input: 'run it', tools: [{ type: 'code_interpreter', container: liveContainer }] }
    const turns: number[] = []
    const models: number[] = []
    const executions: number[] = []
    const runs = isQuick ? 30 : 200
    for (let run = -WARM_UP; run < runs; run++) {
      const before = model.busyMs()
      const ms = await timed(async () => checkTurn(await server.api.json<Turn>('POST', '/v1/responses', request)))
      const { data } = await server.api.json<{ readonly data: readonly ExecutionAnswer[] }>(
        'GET',
        `/v1/containers/${liveContainer}/executions?order=desc&limit=${TURN_SCRIPT.length}`,
      )
      if (run < 0) continue
      const modelMs = model.busyMs() - before
      models.push(modelMs)
      turns.push(ms - modelMs)
      executions.push(data.reduce((sum, row) => sum + Date.parse(row.ended_at ?? '') - Date.parse(row.created_at), 0))
    }
    const figures = {
      turn_ms: summarize('ms', turns),
      turn_model_ms: summarize('ms', models),
      turn_executions_ms: summarize('ms', executions),
    }
    // Execution times are whole milliseconds, so medians are coarse; sums are more precise.
    return { figures, ratios: { turn_vs_executions: round(sum(turns) / sum(executions)) } }
  },
}

const sum = (samples: readonly number[]): number => samples.reduce((total, ms) => total + ms, 0)

function checkTurn({ status, output }: Turn): void {
  const calls = output.filter(({ type }) => type === 'code_interpreter_call').length
  if (status !== 'completed' || calls !== TURN_SCRIPT.length) throw new Error(`The turn ended ${status} after ${calls} calls.`)
}
