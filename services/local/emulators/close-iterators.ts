import { createRequire } from 'node:module'

interface Iterator {
  close(): Promise<void>
  return?: () => Promise<void>
}
type Open = (this: unknown, ...args: unknown[]) => Iterator
interface Database {
  readonly prototype: Record<'keys' | 'values', Open>
}

const requireOfDynalite = createRequire(createRequire(import.meta.url).resolve('dynalite'))

let isDone = false

/**
 * Each query of the embedded table opens an iterator over its database and ends it by `return`, as a generator is ended; these have only `close`. One that
 * stays open keeps every row as it was then, in memory and in files, for as long as the process lives. For all tables of this process; once is enough.
 */
export function closeIterators(): void {
  if (isDone) return
  isDone = true
  const databases = [requireOfDynalite('level').Level, requireOfDynalite('memory-level').MemoryLevel] as readonly Database[]
  for (const { prototype } of databases)
    for (const verb of ['keys', 'values'] as const) {
      const open = prototype[verb]
      prototype[verb] = function (...args) {
        const iterator = open.apply(this, args)
        iterator.return ??= () => iterator.close()
        return iterator
      }
    }
}
