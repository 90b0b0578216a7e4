import { setTimeout as delay } from 'node:timers/promises'
import type { SandboxAddress } from '../../../model/sandboxes/sandbox.ts'
import { LinkError } from '../../../ports/sandbox-link.ts'
import type { Supervisor } from '../../../ports/supervisor.ts'

/** The supervisor holds its answer until it knows more, at most this long, milliseconds. */
const HOLD_MS = 20_000
const FIRST_PAUSE_MS = 5
const LONGEST_PAUSE_MS = 10

/** Resolves with true once the supervisor says `ready`, with false when it refused to. Rejects only with the signal's reason. */
export async function untilReady(supervisor: Pick<Supervisor, 'health'>, address: SandboxAddress, signal: AbortSignal): Promise<boolean> {
  // There is nothing to listen to before the socket exists, so the first tries come close together.
  for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(pause * 2, LONGEST_PAUSE_MS)) {
    try {
      const { state } = await supervisor.health(address, HOLD_MS, signal)
      if (state !== 'starting') return state === 'ready'
    } catch (error) {
      signal.throwIfAborted()
      if (!(error instanceof LinkError)) throw error
      await delay(pause, undefined, { signal })
    }
  }
}
