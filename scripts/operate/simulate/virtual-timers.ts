import { syncBuiltinESMExports } from 'node:module'
import promised from 'node:timers/promises'
import type { VirtualTime } from './virtual-time.ts'

/** What `setTimeout` and `setInterval` return. Nothing keeps a process alive. */
class VirtualTimer {
  cancel: () => void = () => undefined

  ref(): this {
    return this
  }

  unref(): this {
    return this
  }

  hasRef(): boolean {
    return false
  }
}

/**
 * Replaces the timers of this process by those of the simulated clock, so that leases, heartbeats and waits of the steps take simulated time, however
 * long the machine needs for them; and `Math.random`, for the random pauses. Returns what restores them. The global `setImmediate` stays: the clock uses it to
 * let promises settle.
 */
export function useVirtualTimers(time: VirtualTime, random: () => number): () => void {
  const realRandom = Math.random
  const globals = { setTimeout, clearTimeout, setInterval, clearInterval }
  const realNow = Date.now
  const timeout = Object.getOwnPropertyDescriptor(AbortSignal, 'timeout') ?? {}
  const { setTimeout: sleep, setImmediate: yieldOnce } = promised
  const cancel = (timer: unknown): void => {
    if (timer instanceof VirtualTimer) timer.cancel()
    else globals.clearTimeout(timer as Parameters<typeof clearTimeout>[0])
  }
  const fakes = {
    setTimeout: (run: (...args: unknown[]) => void, ms = 0, ...args: unknown[]): VirtualTimer => {
      const timer = new VirtualTimer()
      timer.cancel = time.after(ms, () => run(...args))
      return timer
    },
    setInterval: (run: (...args: unknown[]) => void, ms = 0, ...args: unknown[]): VirtualTimer => {
      const timer = new VirtualTimer()
      const arm = (): void => {
        timer.cancel = time.after(Math.max(1, ms), () => {
          arm()
          run(...args)
        })
      }
      arm()
      return timer
    },
    clearTimeout: cancel,
    clearInterval: cancel,
  }
  Object.assign(globalThis, fakes)
  // Ids carry the time, and the driver reads it.
  Date.now = time.now
  Math.random = random
  AbortSignal.timeout = (ms) => {
    const control = new AbortController()
    time.after(ms, () => control.abort(new DOMException('The operation was aborted due to timeout', 'TimeoutError')))
    return control.signal
  }
  Object.assign(promised, { setTimeout: sleepOn(time), setImmediate: (value: unknown) => time.sleep(0).then(() => value) })
  syncBuiltinESMExports()
  return () => {
    Object.assign(globalThis, globals)
    Date.now = realNow
    Math.random = realRandom
    Object.defineProperty(AbortSignal, 'timeout', timeout)
    Object.assign(promised, { setTimeout: sleep, setImmediate: yieldOnce })
    syncBuiltinESMExports()
  }
}

const sleepOn =
  (time: VirtualTime) =>
  <T>(ms = 1, value?: T, { signal }: { readonly signal?: AbortSignal } = {}): Promise<T | undefined> =>
    new Promise((resolve, reject) => {
      const abort = (): void => {
        cancel()
        reject(new DOMException('The operation was aborted', 'AbortError'))
      }
      const cancel = time.after(ms, () => {
        signal?.removeEventListener('abort', abort)
        resolve(value)
      })
      if (signal?.aborted === true) abort()
      else signal?.addEventListener('abort', abort, { once: true })
    })
