import type { ApiDeps, ModelEntry } from '../../../http/deps.ts'

/** The models by name only: the HTTP edge lists them and has none of their keys. */
export function namedModels(names: readonly string[], createdAt: number): ApiDeps['models'] {
  const entries: readonly ModelEntry[] = names.map((id) => ({ id, createdAt, ownedBy: 'cellblock' }))
  return { list: () => entries, has: (id) => names.includes(id) }
}
