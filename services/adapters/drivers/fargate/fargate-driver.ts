import { setTimeout as delay } from 'node:timers/promises'
import { ListTasksCommand, RunTaskCommand, StopTaskCommand, type ECSClient, type RunTaskCommandInput, type Task } from '@aws-sdk/client-ecs'
import { decodeTime } from 'ulid'
import { ID_PREFIXES, isId } from '../../../model/ids.ts'
import type { ImageCatalogue } from '../../../model/containers/images.ts'
import { MEMORY_TIERS, TIERS, type MemoryTier } from '../../../model/limits.ts'
import { systemClock, type Clock } from '../../../ports/clock.ts'
import { DriverError, type SandboxDriver, type SandboxRef, type SandboxStatus, type SandboxSpec } from '../../../ports/sandbox-driver.ts'
import type { SandboxLimits } from '../../../model/tenants/tenant-limits.ts'
import { fromFailures, toDriverError } from './ecs-error.ts'
import { FARGATE_PROFILE } from './profile.ts'
import { TaskFinder } from './task-finder.ts'
import { SANDBOX_CONTAINER } from './config.ts'
import { taskStatus } from './task-status.ts'

export interface FargateDriverOptions {
  readonly ecs: ECSClient
  readonly cluster: string
  /** URIs of the images in the task definitions, by name. */
  readonly images: ImageCatalogue
  /** ARN (with its revision) or `family:revision`, by name of the image and tier. An image or tier without an entry cannot be started. */
  readonly taskDefinitions: Readonly<Record<string, Partial<Record<MemoryTier, string>>>>
  /** In several zones, so that one zone without capacity does not stop every start. */
  readonly subnets: readonly string[]
  readonly securityGroups: readonly string[]
  /** The task definitions have a health check: RUNNING alone is not ready. */
  readonly waitsForHealth?: boolean
  /** The command that the image runs instead of serving, and its environment: for probes. */
  readonly probe?: { readonly command: readonly string[]; readonly environment: Readonly<Record<string, string>> }
  readonly clock?: Clock
  /** Between two polls of a starting task, milliseconds. Default: 2,000. */
  readonly pollMs?: number
}

/** ECS may not list a task that it has just accepted. A missing task counts as "not yet listed" for this time after its id was created, milliseconds. */
const UNSEEN_MS = 60_000
const POLL_MS = 2_000

class FargateDriver implements SandboxDriver {
  readonly name = FARGATE_PROFILE.name
  readonly capabilities = FARGATE_PROFILE.capabilities
  readonly images: ImageCatalogue
  readonly #options: FargateDriverOptions
  readonly #families: readonly string[]
  readonly #tasks: TaskFinder

  constructor(options: FargateDriverOptions) {
    this.images = options.images
    this.#options = options
    this.#families = Object.values(options.taskDefinitions)
      .flatMap((byTier) => MEMORY_TIERS.flatMap((tier) => byTier[tier] ?? []))
      .map(familyOf)
    this.#tasks = new TaskFinder(options.ecs, options.cluster, this.#families)
  }

  async start(spec: SandboxSpec, signal: AbortSignal): Promise<string | undefined> {
    signal.throwIfAborted()
    const arn = await runTask(this.#options, spec, { taskDefinition: taskDefinitionOf(spec, this.#options), signal })
    if (arn !== null) this.#tasks.remember(spec.sandboxId, arn)
    return arn ?? undefined
  }

  async inspect(sandboxId: string): Promise<SandboxStatus> {
    return this.#statusOf(sandboxId, await this.#tasks.find(sandboxId).catch(rethrow))
  }

  async inspectAll(sandboxes: readonly SandboxRef[]): Promise<readonly SandboxStatus[]> {
    const described = await this.#tasks.describe(sandboxes.flatMap(({ platformId }) => platformId ?? [])).catch(rethrow)
    const statuses: SandboxStatus[] = []
    for (const { id, platformId } of sandboxes)
      statuses.push(platformId === undefined ? await this.inspect(id) : this.#statusOf(id, described.get(platformId)))
    return statuses
  }

  waitReady(sandboxId: string, signal: AbortSignal): Promise<SandboxStatus> {
    return pollUntilReady(() => this.inspect(sandboxId), this.#options.pollMs ?? POLL_MS, signal)
  }

  /** Resolves when ECS has accepted the stop, which is final. */
  async stop(sandboxId: string, platformId?: string): Promise<void> {
    const { ecs, cluster } = this.#options
    try {
      const task = platformId ?? (await this.#tasks.arnOf(sandboxId))
      if (task !== undefined) await ecs.send(new StopTaskCommand({ cluster, task, reason: 'The sandbox is no longer needed.' }))
    } catch (error) {
      if (error instanceof Error && error.name === 'InvalidParameterException' && /not found/i.test(error.message)) return
      throw toDriverError(error)
    }
  }

  async *list(known: ReadonlySet<string> = new Set()): AsyncGenerator<string> {
    try {
      for await (const task of this.#tasks.running(known))
        if (task.startedBy !== undefined && isId('sandbox', task.startedBy)) yield task.startedBy
    } catch (error) {
      throw toDriverError(error)
    }
  }

  async check(): Promise<void> {
    if (this.#families.length === 0)
      throw new DriverError('configuration', 'There is no task definition for any memory tier. Deploy the stack with at least one.')
    const { ecs, cluster } = this.#options
    await ecs.send(new ListTasksCommand({ cluster, maxResults: 1 })).catch(rethrow)
  }

  #statusOf(sandboxId: string, task: Task | undefined): SandboxStatus {
    const { waitsForHealth = false, clock = systemClock } = this.#options
    if (task) return taskStatus(task, waitsForHealth)
    if (isId('sandbox', sandboxId) && clock.now() - madeAt(sandboxId) < UNSEEN_MS) return { phase: 'starting' }
    return { phase: 'gone', reason: 'lost', exitCode: null, detail: 'ECS shows no task of this sandbox.' }
  }
}

/** Sandboxes as Fargate tasks: `clientToken` and `startedBy` are the sandbox's id, so ECS itself refuses to start a second one. */
export const createFargateDriver = (options: FargateDriverOptions): SandboxDriver => new FargateDriver(options)

/** Throws DriverError `configuration` when the stack has none. */
function taskDefinitionOf({ imageName, memoryTier }: SandboxSpec, { images, taskDefinitions }: FargateDriverOptions): string {
  const { name } = images.resolve(imageName)
  const taskDefinition = taskDefinitions[name]?.[memoryTier]
  if (taskDefinition !== undefined) return taskDefinition
  const why = `No task definition for the image ${name} in the memory tier ${memoryTier}. Enable both in the stack.`
  throw new DriverError('configuration', why)
}

async function pollUntilReady(look: () => Promise<SandboxStatus>, pollMs: number, signal: AbortSignal): Promise<SandboxStatus> {
  for (;;) {
    const status = await look().catch((error: unknown) => {
      // A start takes most of a minute; throttling or a fault of ECS does not end it.
      if (error instanceof DriverError && (error.kind === 'throttled' || error.kind === 'unavailable'))
        return { phase: 'starting' } as const
      throw error
    })
    if (status.phase !== 'starting' || signal.aborted) return status
    await delay(pollMs, undefined, { signal }).catch(() => undefined)
    if (signal.aborted) return status
  }
}

/** The ARN of the new task; null when an earlier delivery of the same start has used the token. Throws DriverError. */
async function runTask(
  options: FargateDriverOptions,
  spec: SandboxSpec,
  { taskDefinition, signal }: { readonly taskDefinition: string; readonly signal: AbortSignal },
): Promise<string | null> {
  const command = new RunTaskCommand(runTaskInput(spec, taskDefinition, options))
  try {
    const { tasks: started = [], failures = [] } = await options.ecs.send(command, { abortSignal: signal })
    const arn = started[0]?.taskArn
    if (arn === undefined) throw fromFailures(failures)
    return arn
  } catch (error) {
    signal.throwIfAborted()
    if (error instanceof Error && error.name === 'ConflictException') return null
    throw toDriverError(error)
  }
}

const runTaskInput = (spec: SandboxSpec, taskDefinition: string, options: FargateDriverOptions): RunTaskCommandInput => ({
  cluster: options.cluster,
  taskDefinition,
  // Without a launch type the cluster's capacity provider strategy selects on-demand or Spot.
  count: 1,
  clientToken: spec.sandboxId,
  startedBy: spec.sandboxId,
  tags: [{ key: 'cellblock:sandbox', value: spec.sandboxId }],
  propagateTags: 'TASK_DEFINITION',
  enableExecuteCommand: false,
  networkConfiguration: {
    awsvpcConfiguration: { subnets: [...options.subnets], securityGroups: [...options.securityGroups], assignPublicIp: 'DISABLED' },
  },
  overrides: {
    containerOverrides: [
      {
        name: SANDBOX_CONTAINER,
        environment: [
          { name: 'CELLBLOCK_SANDBOX_ID', value: spec.sandboxId },
          { name: 'CELLBLOCK_PUBLIC_KEY', value: spec.publicKey },
          ...Object.entries(options.probe?.environment ?? {}).map(([name, value]) => ({ name, value })),
          ...(spec.limits ? [{ name: 'CELLBLOCK_LIMITS', value: supervisorLimits(spec.memoryTier, spec.limits) }] : []),
        ],
        ...(options.probe === undefined ? {} : { command: [...options.probe.command] }),
      },
    ],
  },
})

/** Overrides of the task definition. The task's disk has no quota, so only the limit of one file's size applies there. */
const supervisorLimits = (tier: MemoryTier, { processes, openFiles, fileBytes }: SandboxLimits): string =>
  JSON.stringify({ memory_bytes: TIERS[tier].memoryBytes, processes, open_files: openFiles, file_bytes: fileBytes })

const rethrow = (error: unknown): never => {
  throw toDriverError(error)
}

/** `arn:…:task-definition/family:7` and `family:7` → `family`. */
const familyOf = (taskDefinition: string): string => (taskDefinition.split('/').at(-1) ?? taskDefinition).replace(/:\d+$/, '')

/** A sandbox's id contains the time of its creation (epoch ms). */
const madeAt = (sandboxId: string): number => decodeTime(sandboxId.slice(ID_PREFIXES.sandbox.length).toUpperCase())
