import { hookPorts, type Ports } from './killable-ports.ts'
import type { Harness } from './harness.ts'

export interface Barrier {
  readonly ports: Ports
  /** Resolves when the step has reached the barrier. */
  readonly reached: Promise<void>
  release(): void
}

/** Ports that pause a worker at its nth call until `release` is called. */
export function pauseAt(harness: Harness, ports: Ports, at: number, worker: string): Barrier {
  const reached = Promise.withResolvers<void>()
  const gate = Promise.withResolvers<void>()
  const held = hookPorts(ports, {
    async before(number, verb) {
      if (number !== at) return
      harness.history.add({ type: 'paused', worker, at: verb })
      reached.resolve()
      await gate.promise
      harness.history.add({ type: 'resumed', worker, at: verb })
    },
  })
  return { ports: held, reached: reached.promise, release: () => gate.resolve() }
}
