import { aliasOfPath } from '../../model/files/file-path.ts'
import type { ContainerFile } from '../../model/files/file.ts'

/** A file that a request brings into a container. */
export interface IncomingFile {
  /** Id of its copy in the container. */
  readonly id: string
  /** The path that its own name gives, normalized. */
  readonly name: string
  /** What identifies it among files of the name, for its alias. */
  readonly identity: string
  /** Epoch ms. Null: part of the request. */
  readonly createdAt: number | null
}

/**
 * The path of each incoming file, by its id, so that no file takes the place of another one. A copy that the container has keeps its path. Of new files with one
 * name the latest upload has it, unless another file of the container does; every other one gets a name with a hash. `rows`: the files of the container.
 */
export function planPaths(incoming: readonly IncomingFile[], rows: readonly ContainerFile[] = []): ReadonlyMap<string, string> {
  const paths = new Map<string, string>()
  const taken = new Set(rows.filter((row) => row.isCurrent && row.state === 'stored').map(({ path }) => path))
  const copies = new Map(rows.filter((row) => row.state !== 'deleted').map((row) => [row.id, row.path]))
  for (const { id } of incoming) {
    const path = copies.get(id)
    if (path !== undefined) paths.set(id, path)
  }
  const added = incoming.filter(({ id }) => !paths.has(id)).toSorted(latestFirst)
  for (const { id, name, identity } of added) {
    if (paths.has(id)) continue
    const path = taken.has(name) ? aliasOfPath(name, identity) : name
    taken.add(path)
    paths.set(id, path)
  }
  return paths
}

/** Uploads before parts of the request, which stay in their order. */
function latestFirst(a: IncomingFile, b: IncomingFile): number {
  const age = (b.createdAt ?? -1) - (a.createdAt ?? -1)
  if (age !== 0 || a.createdAt === null) return age
  return a.identity < b.identity ? 1 : -1
}
