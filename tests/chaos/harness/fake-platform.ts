import { singleImage } from '../../../services/model/containers/images.ts'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { SandboxDriver, SandboxStatus } from '../../../services/ports/sandbox-driver.ts'
import type { History } from '../history.ts'
import type { OnStage, Stage } from './scripted-kernel.ts'
import { ScriptedSandbox } from './scripted-sandbox.ts'

export interface FakePlatform {
  readonly driver: SandboxDriver
  readonly alive: ReadonlyMap<string, ScriptedSandbox>
  /** Called at every stage of every sandbox. */
  onStage: OnStage
  kill(id: string): Promise<void>
  /** The ids of all sandboxes ever started. */
  readonly started: ReadonlySet<string>
  stop(): Promise<void>
}

/** A compute platform with scripted sandboxes. It starts each id once; a killed sandbox stays gone. */
export async function startFakePlatform(history: History): Promise<FakePlatform> {
  const folder = await mkdtemp(join(tmpdir(), 'cbx-'))
  const alive = new Map<string, ScriptedSandbox>()
  const started = new Set<string>()
  const platform = {
    alive,
    started,
    onStage: (() => undefined) as OnStage,
    async kill(id: string) {
      const sandbox = alive.get(id)
      alive.delete(id)
      await sandbox?.kill()
    },
    async stop() {
      await Promise.all([...alive.keys()].map((id) => platform.kill(id)))
      await rm(folder, { recursive: true, force: true })
    },
  }
  const statusOf = (id: string): SandboxStatus => {
    const sandbox = alive.get(id)
    return sandbox === undefined
      ? { phase: 'gone', reason: 'lost', exitCode: null }
      : { phase: 'ready', address: { kind: 'unix', socketPath: sandbox.socketPath } }
  }
  const driver: SandboxDriver = {
    name: 'scripted',
    capabilities: { addressKinds: ['unix'], reportsStarts: false, startMs: 0 },
    images: singleImage('scripted'),
    async start({ sandboxId, publicKey }) {
      if (started.has(sandboxId)) return undefined
      started.add(sandboxId)
      const onStage = (stage: Stage, sandbox: string, execution: string | null) => platform.onStage(stage, sandbox, execution)
      const sandbox = new ScriptedSandbox({ id: sandboxId, publicKey, socketPath: join(folder, sandboxId.slice(-16)), history, onStage })
      await sandbox.listen()
      alive.set(sandboxId, sandbox)
      return undefined
    },
    inspect: async (id) => statusOf(id),
    inspectAll: async (sandboxes) => sandboxes.map(({ id }) => statusOf(id)),
    waitReady: async (id) => statusOf(id),
    stop: (id) => platform.kill(id),
    async *list() {
      yield* [...alive.keys()]
    },
    check: async () => undefined,
  }
  return Object.assign(platform, { driver })
}
