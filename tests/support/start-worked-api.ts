import { createModelCatalogue } from '../../services/adapters/models/catalogue.ts'
import { typesOf } from '../../services/adapters/tools/create-tools.ts'
import { createTurnStep } from '../../services/workers/turn/turn-step.ts'
import type { Execution } from '../../services/model/executions/execution.ts'
import type { ServerTool } from '../../services/ports/tool.ts'
import { systemClock } from '../../services/ports/clock.ts'
import { finishExecution } from './finish-execution.ts'
import { startScriptedUpstream, type ScriptedUpstream } from './scripted-upstream.ts'
import { startApi, type TestApi } from './start-api.ts'
import { storeFile, type RunOutcome } from './turn-bench.ts'
import { silentTelemetry } from './silent-telemetry.ts'

export type PlayCode = (code: string, execution: Execution) => RunOutcome

export interface WorkedApi {
  readonly api: TestApi
  readonly upstream: ScriptedUpstream
  /** Sets the outcome of code from now on. */
  runs(play: PlayCode): void
  stop(): Promise<void>
}

/**
 * The API over real HTTP with turn workers that handle every due row, as the queues and workers do. The models are `demo` and
 * `scripted`. The test decides the outcome of code.
 */
export async function startWorkedApi(tools: readonly ServerTool[] = []): Promise<WorkedApi> {
  const [api, upstream] = await Promise.all([
    startApi({ models: ['demo', 'scripted'], toolTypes: typesOf(tools) }),
    startScriptedUpstream(),
  ])
  const model = {
    name: 'scripted',
    baseUrl: upstream.baseUrl,
    apiKey: 'sk-scripted',
    upstreamName: 'upstream-model',
    contextWindow: 16_000,
    fencesCode: null,
    readsImages: null,
  }
  const models = createModelCatalogue({ openAi: null, models: [model] })
  const step = createTurnStep({ ...api, clock: systemClock, telemetry: silentTelemetry, models, tools, workerId: 'wrk_test' })
  let play: PlayCode = () => ({})
  let isWorking = true

  async function run(tenant: string, id: string): Promise<void> {
    const execution = await api.table.executions.get(tenant, id)
    if (execution === null || execution.endedAt !== null) return
    const { source } = execution
    const code = source.kind === 'code' ? source.code : source.kind === 'command' ? source.argv.at(-1) : undefined
    if (code === undefined) return
    const { files = {}, result, patch } = play(code, execution)
    const made = await Promise.all(Object.entries(files).map(([path, text]) => storeFile(api, execution, path, text)))
    const resultFiles = made.map((file) => ({
      id: file.id,
      path: file.path,
      bytes: file.bytes,
      mime: file.mime,
      sha256: 'x',
      isNew: true,
      modifiedFrom: null,
    }))
    await finishExecution(api, tenant, id, { result: { files: resultFiles, ...result }, ...(patch === undefined ? {} : { patch }) })
    if (source.kind === 'command')
      await api.table.containers.removeCommand(tenant, execution.containerId, { commandId: id, now: Date.now() })
  }
  /** Running steps, by response. */
  const steps = new Map<string, Promise<void>>()
  const working = (async () => {
    while (isWorking) {
      for (const { kind, tenant, id } of await api.table.due(Date.now() + 3_600_000, 50)) {
        if (kind === 'execution') await run(tenant, id)
        if (kind !== 'response' || steps.has(id)) continue
        steps.set(
          id,
          step({ v: 1, type: 'response.step', tenant, responseId: id }).then(() => void steps.delete(id)),
        )
      }
      // Yields the thread to the running steps.
      await new Promise((resolve) => setTimeout(resolve, 3))
    }
  })()
  return {
    api,
    upstream,
    runs: (next) => void (play = next),
    async stop() {
      isWorking = false
      await working
      await Promise.all(steps.values())
      await Promise.all([api.stop(), upstream.stop()])
    },
  }
}
