import type { TurnDeps } from '../../services/chat/deps.ts'

/** Thrown by every port of a worker that is dead. */
export class Killed extends Error {
  constructor() {
    super('The worker was killed')
    this.name = 'Killed'
  }
}

export interface DyingWorker {
  readonly deps: Pick<TurnDeps, 'table' | 'queue' | 'objects'>
  /** Calls that the worker got to make, as `store.verb`. */
  readonly calls: string[]
  readonly isDead: boolean
}

/**
 * Real ports that stop working at the call with this number (from 0), or at the first one of this name: `before` it reached the storage, or `after`, with the answer lost.
 * From then on every call fails, as of a process that is gone.
 */
export function dyingWorker(
  ports: Pick<TurnDeps, 'table' | 'queue' | 'objects'>,
  diesAt: number | string,
  when: 'before' | 'after',
): DyingWorker {
  const calls: string[] = []
  let isDead = false
  const guard = async (name: string, call: () => unknown): Promise<unknown> => {
    if (isDead) throw new Killed()
    const number = calls.push(name) - 1
    const isLast = number === diesAt || name === diesAt
    if (isLast && when === 'before') {
      isDead = true
      throw new Killed()
    }
    const answer = await call()
    if (isLast) isDead = true
    if (isDead) throw new Killed()
    return answer
  }
  const wrap = <T extends object>(target: T, path: string): T =>
    new Proxy(target, {
      get(object, key) {
        const value = Reflect.get(object, key) as unknown
        if (typeof value === 'function')
          return (...args: unknown[]) => guard(`${path}${String(key)}`, () => Reflect.apply(value, object, args) as unknown)
        return typeof value === 'object' && value !== null ? wrap(value, `${path}${String(key)}.`) : value
      },
    })
  return {
    deps: { table: wrap(ports.table, ''), queue: wrap(ports.queue, 'queue.'), objects: wrap(ports.objects, 'objects.') },
    calls,
    get isDead() {
      return isDead
    },
  }
}
