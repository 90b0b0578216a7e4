/** One version of one file of a container. A path that changes gets a new row; the old version keeps its id and its bytes. */
export interface ContainerFile {
  readonly v: 1
  readonly tenant: string
  readonly id: string
  readonly containerId: string
  /** Relative to `/mnt/data`, `/`-separated, NFC. */
  readonly path: string
  /** The path in a sandbox, where code spelled it otherwise; absent if it is `path`. */
  readonly sandboxPath?: string
  readonly bytes: number
  readonly sha256: string | null
  readonly mime: string
  readonly source: 'user' | 'assistant'
  readonly createdAt: number
  /** Object key of the bytes; random, never derived from the path. */
  readonly objectKey: string
  readonly executionId: string | null
  /** False when a newer version has the path, or the file was deleted. */
  readonly isCurrent: boolean
  /** When it stopped being current, epoch ms. */
  readonly endedAt?: number
  /** `awaiting_upload` until the bytes of an upload URL have arrived; `swept` when only the row of a superseded version remains. */
  readonly state: 'stored' | 'awaiting_upload' | 'deleted' | 'swept'
  /** A request supplied the file: its row outlives its bytes, so that a replayed history does not overwrite what code made of it. */
  readonly isBrought?: boolean
  /** The container generation whose sandbox has these bytes; 0 when none has. */
  readonly sandboxGeneration: number
}

export const sandboxPathOf = ({ path, sandboxPath = path }: Pick<ContainerFile, 'path' | 'sandboxPath'>): string => sandboxPath

/** A file in the result of an execution. */
export interface ExecutionFile {
  readonly id: string
  readonly path: string
  readonly bytes: number
  readonly sha256: string
  readonly mime: string
  readonly isNew: boolean
  readonly modifiedFrom: string | null
}
