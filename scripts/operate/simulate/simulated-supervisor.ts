import { LinkError } from '../../../services/ports/sandbox-link.ts'
import type { Supervisor, SupervisorEnvelope, SupervisorEvent } from '../../../services/ports/supervisor.ts'
import type { VirtualTime } from './virtual-time.ts'

/** From a running task until its supervisor has passed the self-test and its first kernel waits. */
export const UP_MS = 2_500

const ENVELOPE: Omit<SupervisorEnvelope, 'runMs'> = {
  outcome: 'ok',
  cpuMs: 50,
  peakMemoryBytes: 100_000_000,
  outputBytes: 3,
  truncated: [],
  files: [],
  deleted: [],
  skipped: [],
  endedProcesses: 0,
  stateLost: null,
}

/** The supervisors of all sandboxes: each answers while its task runs and prints one line per execution. */
export function createSimulatedSupervisor(options: {
  readonly time: VirtualTime
  readonly isRunning: (sandboxId: string) => boolean
  /** When its task began to run, simulated ms. */
  readonly runningSince: (sandboxId: string) => number
  /** The sandbox behind an address. */
  readonly sandboxAt: (host: string) => string | undefined
  readonly runMs: number
}): Supervisor {
  const { time, isRunning, runningSince, sandboxAt, runMs } = options
  const refused = (): never => {
    throw new LinkError('refused', 'No task has this address.')
  }
  const alive = (sandboxId: string | undefined): string => (sandboxId !== undefined && isRunning(sandboxId) ? sandboxId : refused())
  const unused = (): Promise<never> => Promise.reject(new Error('The simulation runs code only.'))
  async function* events(sandboxId: string): AsyncGenerator<SupervisorEvent> {
    yield { seq: 0, t: 0, type: 'started' }
    yield { seq: 1, t: 0, type: 'cell_started', index: 0, executionCount: 1 }
    await time.sleep(runMs)
    if (!isRunning(sandboxId)) throw new LinkError('broken', 'The task ended.')
    yield { seq: 2, t: runMs, type: 'stream', index: 0, name: 'stdout', text: '42\n' }
    yield { seq: 3, t: runMs, type: 'cell_done', index: 0, status: 'ok', executionCount: 1 }
    yield { seq: 4, t: runMs, type: 'done', ...ENVELOPE, runMs }
  }
  return {
    async health(address) {
      const sandboxId = alive(address.kind === 'tcp' ? sandboxAt(address.host) : undefined)
      if (sandboxId !== undefined) await time.sleep(runningSince(sandboxId) + UP_MS - time.now())
      await time.sleep(5)
      return { v: 1, sandboxId: alive(sandboxId), state: 'ready', refused: [] }
    },
    async execute({ sandboxId }) {
      await time.sleep(5)
      return events(alive(sandboxId))
    },
    interrupt: async () => undefined,
    runCommand: unused,
    sendInput: unused,
    stopCommand: unused,
    listFiles: async () => ({ files: [], skipped: [] }),
    getFile: async () => null,
    putFile: unused,
    deleteFile: async () => undefined,
    listSkills: async () => [],
    putSkill: unused,
    suspend: unused,
    snapshot: unused,
    restore: unused,
    openNetwork: unused,
    closeNetwork: unused,
    acceptConnection: unused,
    connectPort: unused,
    listPorts: unused,
  }
}
