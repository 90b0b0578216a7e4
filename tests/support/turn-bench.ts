import { acceptResponse, newResponse } from '../../services/operations/turns/accept-response.ts'
import type { ResponseEvent } from '../../services/model/events.ts'
import type { Execution, ExecutionResult } from '../../services/model/executions/execution.ts'
import { newId } from '../../services/model/ids.ts'
import type { ContainerFile } from '../../services/model/files/file.ts'
import { mimeOf } from '../../services/model/files/mime.ts'
import type { ModelCatalogue } from '../../services/ports/model-catalogue.ts'
import type { ResponseRecord, ResponseRequest } from '../../services/model/responses/response.ts'
import { responseRequest } from './rows.ts'
import { hasResponseEnded } from '../../services/model/responses/response.ts'
import { loadResponse } from '../../services/operations/turns/response-blobs.ts'
import type { TurnDeps } from '../../services/workers/turn/deps.ts'
import { createModelCatalogue } from '../../services/adapters/models/catalogue.ts'
import { createTurnStep } from '../../services/workers/turn/turn-step.ts'
import { DRIVERS } from '../../services/adapters/drivers/registry.ts'
import { createLocalSignals } from '../../services/adapters/storage/signals/local-signals.ts'
import { finishExecution } from './finish-execution.ts'
import { startScriptedUpstream, type ScriptedUpstream } from './scripted-upstream.ts'
import { startStorage, type Storage } from './start-storage.ts'
import { silentTelemetry } from './silent-telemetry.ts'

/** The outcome of a test turn's code. */
export interface RunOutcome {
  readonly result?: Partial<ExecutionResult>
  readonly patch?: Partial<Pick<Execution, 'status' | 'reason'>>
  /** The files that it creates, by path. */
  readonly files?: Readonly<Record<string, string>>
}
export type RunCode = (code: string, execution: Execution) => RunOutcome

/** Chat turns on real storage with a scripted model. The test acts as the run worker. */
export interface TurnBench {
  readonly storage: Storage
  readonly upstream: ScriptedUpstream
  readonly deps: TurnDeps
  readonly tenant: string
  /** Milliseconds by which the clock of the workers is ahead. */
  skew: number
  accept(request: Partial<ResponseRequest>, previousResponseId?: string, subject?: string | null): Promise<ResponseRecord>
  /** One message to one worker. */
  step(id: string, deps?: Partial<TurnDeps>): Promise<void>
  /** Steps and runs code until the response has ended. */
  finish(id: string, run?: RunCode): Promise<ResponseRecord>
  runPending(row: ResponseRecord, run: RunCode): Promise<void>
  row(id: string): Promise<ResponseRecord>
  /** The log and the row's tail. */
  events(id: string): Promise<readonly ResponseEvent[]>
  stop(): Promise<void>
}

export const INTERPRETER = {
  tools: [{ type: 'code_interpreter', container: { type: 'auto' } }],
  interpreter: { containerId: null, memoryTier: '1g', fileIds: [] },
} as const satisfies Partial<ResponseRequest>

export const SHELL_TOOL = {
  tools: [{ type: 'shell', environment: { type: 'container_auto' } }],
  interpreter: { containerId: null, memoryTier: '1g', fileIds: [], isShellOnly: true },
} as const satisfies Partial<ResponseRequest>

const REQUEST = responseRequest({ model: 'scripted', input: 'Hello', stream: true })

export async function startTurnBench(): Promise<TurnBench> {
  const [storage, upstream] = await Promise.all([startStorage(), startScriptedUpstream()])
  const { table, objects, queue } = storage
  const models: ModelCatalogue = createModelCatalogue({
    openAi: null,
    models: ['scripted', 'fenced', 'small', 'vision'].map((name) => ({
      name,
      baseUrl: upstream.baseUrl,
      apiKey: 'sk-scripted',
      upstreamName: 'upstream-model',
      contextWindow: name === 'small' ? 4_000 : 16_000,
      fencesCode: name === 'fenced',
      readsImages: name === 'vision' ? true : null,
    })),
  })
  const tenant = newId('tenant')
  const signals = createLocalSignals()
  const bench: TurnBench = {
    storage,
    upstream,
    tenant,
    skew: 0,
    deps: {
      table,
      objects,
      queue,
      signals,
      clock: { now: () => Date.now() + bench.skew },
      telemetry: silentTelemetry,
      models,
      prices: DRIVERS.fargate.prices,
      workerId: newId('worker'),
      executionWaitMs: 0,
    },
    async accept(request, previousResponseId, subject = null) {
      const wanted = {
        tenant,
        subject,
        request: { ...REQUEST, ...request },
        previousResponseId: previousResponseId ?? null,
        publicUrl: 'http://localhost:8787',
      }
      const response = newResponse(wanted, Date.now() + bench.skew)
      await acceptResponse({ table, queue, objects }, response)
      return response
    },
    step: (id, deps = {}) => createTurnStep({ ...bench.deps, ...deps })({ v: 1, type: 'response.step', tenant, responseId: id }),
    async finish(id, run = () => ({})) {
      for (let round = 0; round < 60; round += 1) {
        await bench.step(id)
        const row = await bench.row(id)
        if (hasResponseEnded(row.status)) return row
        await bench.runPending(row, run)
      }
      throw new Error('The response does not end')
    },
    async runPending({ pending }, run) {
      const execution = pending === null ? null : await table.executions.get(tenant, pending.executionId)
      if (execution === null || execution.endedAt !== null) return
      const { source, containerId } = execution
      const code = source.kind === 'code' ? source.code : source.kind === 'command' ? source.argv.at(-1) : undefined
      if (code === undefined) return
      const { files = {}, result, patch } = run(code, execution)
      const made = await Promise.all(Object.entries(files).map(([path, text]) => storeFile(storage, execution, path, text)))
      const resultFiles = made.map(({ id, path, bytes, mime }) => ({ id, path, bytes, mime, sha256: 'x', isNew: true, modifiedFrom: null }))
      await finishExecution({ table, signals }, tenant, execution.id, {
        result: { files: resultFiles, ...result },
        ...(patch === undefined ? {} : { patch }),
      })
      if (source.kind === 'command') await table.containers.removeCommand(tenant, containerId, { commandId: execution.id, now: Date.now() })
    },
    async row(id) {
      const row = await table.responses.get(tenant, id)
      if (row === null) throw new Error('The response does not exist')
      return loadResponse(objects, row)
    },
    async events(id) {
      const logged = await table.events.read<ResponseEvent>({ kind: 'response', tenant, id }, -1, 10_000)
      return [...logged, ...(await bench.row(id)).tailEvents]
    },
    async stop() {
      await Promise.all([storage.stop(), upstream.stop()])
    },
  }
  return bench
}

/** Stores a file of a container, as the run worker collects it. */
export async function storeFile(
  { table, objects }: Pick<Storage, 'table' | 'objects'>,
  owner: Pick<Execution, 'tenant' | 'containerId'> & { id: string | null },
  path: string,
  text: string,
): Promise<ContainerFile> {
  const objectKey = `tenants/${owner.tenant}/${owner.containerId}/files/${newId('file')}`
  const { bytes } = await objects.put(objectKey, Buffer.from(text), { contentType: 'text/plain' })
  for (const old of await table.files.all(owner.tenant, owner.containerId))
    if (old.path === path)
      await table.files.patch({ tenant: owner.tenant, containerId: owner.containerId, id: old.id }, { isCurrent: false })
  const file: ContainerFile = {
    v: 1,
    tenant: owner.tenant,
    id: newId('containerFile'),
    containerId: owner.containerId,
    path,
    bytes,
    sha256: null,
    mime: mimeOf(path),
    source: owner.id === null ? 'user' : 'assistant',
    createdAt: Date.now(),
    objectKey,
    executionId: owner.id,
    isCurrent: true,
    state: 'stored',
    sandboxGeneration: 0,
  }
  await table.files.put(file)
  return file
}
