import type { TurnDeps } from '../../services/workers/turn/deps.ts'

type Ports = Pick<TurnDeps, 'table' | 'queue' | 'objects'>

/** Real ports that run `act` before the call with this number (from 0) reaches the storage; with `andAfter` before every later call too. */
export function atCall(
  ports: Ports,
  number: number,
  act: () => Promise<void>,
  { andAfter = false } = {},
): { readonly ports: Ports; readonly calls: string[] } {
  const calls: string[] = []
  const wrap = <T extends object>(target: T, path: string): T =>
    new Proxy(target, {
      get(object, key) {
        const value = Reflect.get(object, key) as unknown
        if (key === 'metered') return (meter: never) => wrap(Reflect.apply(value as (meter: never) => T, object, [meter]), path)
        if (typeof value === 'function')
          return async (...args: unknown[]) => {
            const place = calls.push(`${path}${String(key)}`) - 1
            if (place === number || (andAfter && place > number)) await act()
            return Reflect.apply(value, object, args) as unknown
          }
        return typeof value === 'object' && value !== null ? wrap(value, `${path}${String(key)}.`) : value
      },
    })
  return { ports: { table: wrap(ports.table, ''), queue: wrap(ports.queue, 'queue.'), objects: wrap(ports.objects, 'objects.') }, calls }
}
