import type { ApiDeps, ModelEntry } from './deps.ts'

/** The models by name alone: the HTTP edge says which there are and holds none of their keys. */
export function namedModels(names: readonly string[], createdAt: number): ApiDeps['models'] {
  const entries: readonly ModelEntry[] = names.map((id) => ({ id, createdAt, ownedBy: 'cellblock' }))
  return { list: () => entries, has: (id) => names.includes(id) }
}
