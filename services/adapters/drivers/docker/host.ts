import Docker from 'dockerode'
import type { DriverHost } from '../driver-profile.ts'
import { Checkpoints, type CheckpointOptions } from './checkpoints.ts'
import { proxiedControlFolders } from './control-folder.ts'
import { createDockerDriver } from './docker-driver.ts'
import { createExecRelay } from './exec-relay.ts'
import { tiersOfHost } from './limits.ts'
import { removeOrphanedSandboxes, SERVER_LABEL } from './remove-orphaned-sandboxes.ts'

/** Where pip of a sandbox looks for wheels (runtime-image/supervisor/cellblock_supervisor/config.py). */
const WHEELHOUSE_FOLDER = '/opt/wheels'

/** What an engine says of itself (`GET /info`): its data folder, and how it runs each runtime. */
interface EngineInfo {
  readonly DockerRootDir: string
  readonly MemTotal?: number
  readonly Runtimes?: Readonly<Record<string, { readonly path?: string; readonly runtimeArgs?: readonly string[] }>>
}

/** The name of the program that `npm start -- --runtime gvisor` registers, which resumes sandboxes. */
const RESUMING = /\/runsc-[^/]*-resuming-[^/]*$/

/** Undefined if the runtime keeps no processes, or if this process may not use its state. */
export function checkpointOptions(
  { runtime, transport }: { readonly runtime: string | null; readonly transport: 'unix' | 'exec' },
  engine: EngineInfo | null,
): CheckpointOptions | undefined {
  const { path = '', runtimeArgs = [] } = (runtime === null ? undefined : engine?.Runtimes?.[runtime]) ?? {}
  if (engine === null || !RESUMING.test(path) || transport !== 'unix' || process.getuid?.() !== 0) return undefined
  return { engine: engine.DockerRootDir, program: path, args: runtimeArgs }
}

/** The Docker engine of this machine. */
export function createDockerHost(): DriverHost {
  const docker = new Docker()
  return {
    openRelay: createExecRelay(docker),
    async open({ stage, supervisor, images, runtime, transport, controlDir, preload, wheelhouse, onRun, now }) {
      const info = (await docker.info().catch(() => null)) as EngineInfo | null
      // Behind the engine proxy this process has no access to the state of the runtime.
      const checkpoints = controlDir === null ? checkpointOptions({ runtime, transport }, info) : undefined
      const driver = createDockerDriver({
        ...{ docker, stage, supervisor, images, transport, onRun },
        runtime: runtime ?? undefined,
        checkpoints,
        controlFolders: controlDir === null ? undefined : proxiedControlFolders(controlDir),
        labels: { [SERVER_LABEL]: String(process.pid) },
        preload: preload ?? undefined,
        ...(wheelhouse !== null && { readOnlyBinds: [`${wheelhouse}:${WHEELHOUSE_FOLDER}`] }),
      })
      const listContainers = async () => (await docker.listContainers({ all: true })).map(({ Id }) => Id)
      const removed = removeOrphanedSandboxes(docker, stage, now).then(
        () => checkpoints && new Checkpoints(checkpoints).removeOthers(listContainers),
      )
      removed.catch(() => undefined)
      // It says best what is wrong with an engine that does not answer.
      await driver.check()
      await removed
      return { driver, memoryTiers: tiersOfHost(info ?? {}) }
    },
  }
}
