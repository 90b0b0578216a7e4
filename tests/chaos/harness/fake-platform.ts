import { singleImage } from '../../../services/model/containers/images.ts'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DriverError, type SandboxDriver, type SandboxStatus, type SandboxSuspension } from '../../../services/ports/sandbox-driver.ts'
import type { History } from '../history.ts'
import type { OnStage, Stage } from './scripted-kernel.ts'
import { ScriptedSandbox } from './scripted-sandbox.ts'

export interface FakePlatform {
  readonly driver: SandboxDriver
  readonly alive: ReadonlyMap<string, ScriptedSandbox>
  /** Sandboxes whose processes are in a checkpoint. */
  readonly suspended: ReadonlyMap<string, { readonly sandbox: ScriptedSandbox; readonly checkpointId: string }>
  /** Called at every stage of every sandbox. */
  onStage: OnStage
  /** Also removes a checkpoint. */
  kill(id: string): Promise<void>
  /** The ids of all sandboxes ever started. */
  readonly started: ReadonlySet<string>
  stop(): Promise<void>
}

/** A compute platform with scripted sandboxes. It starts each id once; a killed sandbox stays gone. With `canSuspend` it keeps their kernels. */
export async function startFakePlatform(
  history: History,
  { canSuspend = false }: { readonly canSuspend?: boolean } = {},
): Promise<FakePlatform> {
  const folder = await mkdtemp(join(tmpdir(), 'cbx-'))
  const alive = new Map<string, ScriptedSandbox>()
  const started = new Set<string>()
  const suspended = new Map<string, { readonly sandbox: ScriptedSandbox; readonly checkpointId: string }>()
  const used = new Set<string>()
  const platform = {
    alive,
    suspended,
    started,
    onStage: (() => undefined) as OnStage,
    async kill(id: string) {
      const sandbox = alive.get(id)
      alive.delete(id)
      suspended.delete(id)
      await sandbox?.kill()
    },
    async stop() {
      await Promise.all([...alive.keys()].map((id) => platform.kill(id)))
      await rm(folder, { recursive: true, force: true })
    },
  }
  const socketOf = (id: string): string => join(folder, id.slice(-16))
  const statusOf = (id: string): SandboxStatus => {
    if (suspended.has(id)) return { phase: 'suspended' }
    const sandbox = alive.get(id)
    return sandbox === undefined
      ? { phase: 'gone', reason: 'lost', exitCode: null }
      : { phase: 'ready', address: { kind: 'unix', socketPath: sandbox.socketPath } }
  }
  const suspension: SandboxSuspension = {
    async suspend({ sandboxId }, checkpointId) {
      const sandbox = alive.get(sandboxId)
      if (suspended.get(sandboxId)?.checkpointId === checkpointId) return { bytes: 1 }
      if (sandbox === undefined || used.has(checkpointId)) throw new DriverError('unavailable', 'There is nothing to suspend.')
      alive.delete(sandboxId)
      suspended.set(sandboxId, { sandbox, checkpointId })
      await sandbox.suspend()
      return { bytes: 1 }
    },
    async resume(sandboxId, checkpointId) {
      const kept = suspended.get(sandboxId)
      if (kept === undefined && alive.has(sandboxId) && used.has(checkpointId)) return statusOf(sandboxId)
      if (kept?.checkpointId !== checkpointId) throw new DriverError('unavailable', 'There is no such checkpoint.')
      used.add(checkpointId)
      suspended.delete(sandboxId)
      await kept.sandbox.listen()
      alive.set(sandboxId, kept.sandbox)
      return statusOf(sandboxId)
    },
    async copy(from, { sandboxId, publicKey }) {
      if (suspended.has(sandboxId)) return { bytes: 1 }
      const source = suspended.get(from.sandboxId)
      if (source?.checkpointId !== from.checkpointId || started.has(sandboxId))
        throw new DriverError('unavailable', 'There is no such checkpoint.')
      started.add(sandboxId)
      const sandbox = source.sandbox.copy({ id: sandboxId, publicKey, socketPath: socketOf(sandboxId) })
      suspended.set(sandboxId, { sandbox, checkpointId: from.checkpointId })
      return { bytes: 1 }
    },
  }
  const driver: SandboxDriver = {
    ...(canSuspend && { suspension }),
    name: 'scripted',
    capabilities: { addressKinds: ['unix'], reportsStarts: false, startMs: 0 },
    images: singleImage('scripted'),
    async start({ sandboxId, publicKey }) {
      if (started.has(sandboxId)) return undefined
      started.add(sandboxId)
      const onStage = (stage: Stage, sandbox: string, execution: string | null) => platform.onStage(stage, sandbox, execution)
      const sandbox = new ScriptedSandbox({ id: sandboxId, publicKey, socketPath: socketOf(sandboxId), history, onStage })
      await sandbox.listen()
      alive.set(sandboxId, sandbox)
      return undefined
    },
    inspect: async (id) => statusOf(id),
    inspectAll: async (sandboxes) => sandboxes.map(({ id }) => statusOf(id)),
    waitReady: async (id) => statusOf(id),
    stop: (id) => platform.kill(id),
    async *list() {
      yield* [...alive.keys(), ...suspended.keys()]
    },
    check: async () => undefined,
  }
  return Object.assign(platform, { driver })
}
