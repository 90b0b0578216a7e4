import type { TurnDeps } from '../../services/workers/turn/deps.ts'

/** Thrown by every port of a crashed worker. */
export class WorkerCrashedError extends Error {
  constructor() {
    super('The worker was killed')
    this.name = 'WorkerCrashedError'
  }
}

export interface CrashingWorker {
  readonly deps: Pick<TurnDeps, 'table' | 'queue' | 'objects'>
  /** The calls of the worker before its crash, as `store.verb`. */
  readonly calls: string[]
  readonly hasCrashed: boolean
}

/**
 * Real ports that fail from the call with this number (from 0) or the first call of this name on: `before` it reaches the storage, or `after` with the reply lost.
 * Every later call fails, as in a crashed process.
 */
export function crashingWorker(
  ports: Pick<TurnDeps, 'table' | 'queue' | 'objects'>,
  diesAt: number | string,
  when: 'before' | 'after',
): CrashingWorker {
  const calls: string[] = []
  let hasCrashed = false
  const guard = async (name: string, call: () => unknown): Promise<unknown> => {
    if (hasCrashed) throw new WorkerCrashedError()
    const number = calls.push(name) - 1
    const isLast = number === diesAt || name === diesAt
    if (isLast && when === 'before') {
      hasCrashed = true
      throw new WorkerCrashedError()
    }
    const answer = await call()
    if (isLast) hasCrashed = true
    if (hasCrashed) throw new WorkerCrashedError()
    return answer
  }
  const wrap = <T extends object>(target: T, path: string): T =>
    new Proxy(target, {
      get(object, key) {
        const value = Reflect.get(object, key) as unknown
        if (key === 'metered') return (meter: never) => wrap(Reflect.apply(value as (meter: never) => T, object, [meter]), path)
        if (typeof value === 'function')
          return (...args: unknown[]) => guard(`${path}${String(key)}`, () => Reflect.apply(value, object, args) as unknown)
        return typeof value === 'object' && value !== null ? wrap(value, `${path}${String(key)}.`) : value
      },
    })
  return {
    deps: { table: wrap(ports.table, ''), queue: wrap(ports.queue, 'queue.'), objects: wrap(ports.objects, 'objects.') },
    calls,
    get hasCrashed() {
      return hasCrashed
    },
  }
}
