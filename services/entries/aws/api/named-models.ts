import type { ApiDeps, ModelEntry } from '../../../http/deps.ts'

/** The names of the models. The HTTP edge lists them; it does not have their keys. */
export function namedModels(names: readonly string[], createdAt: number): ApiDeps['models'] {
  const entries: readonly ModelEntry[] = names.map((id) => ({ id, createdAt, ownedBy: 'cellblock' }))
  return { list: () => entries, has: (id) => names.includes(id) }
}
