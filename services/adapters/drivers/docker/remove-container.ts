import type Docker from 'dockerode'
import { setTimeout as delay } from 'node:timers/promises'
import { engineStatus } from './engine-error.ts'

/** An engine gives up a removal when the processes have not ended 12 s after they were killed, which a full machine can cause. */
const TIMEOUT_MS = 60_000
const PAUSE_MS = 50

/**
 * Removes a container with its volumes, whatever runs in it. While another call removes it, the engine refuses this one (409), and that other call may fail; so this
 * one is repeated until the container is gone, for at most `timeoutMs`. Throws what the engine answered.
 */
export async function removeContainer(container: Docker.Container, timeoutMs: number = TIMEOUT_MS): Promise<void> {
  for (const deadline = performance.now() + timeoutMs; ; await delay(PAUSE_MS)) {
    try {
      await container.remove({ force: true, v: true })
      return
    } catch (error) {
      const status = engineStatus(error)
      if (status === 404) return
      if (status !== 409 || performance.now() > deadline) throw error
    }
  }
}
