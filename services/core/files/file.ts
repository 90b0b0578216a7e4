/** One version of one file of a container. A path that changes gets a new row; the old version keeps its id and its bytes. */
export interface ContainerFile {
  readonly v: 1
  readonly tenant: string
  readonly id: string
  readonly containerId: string
  /** Relative to `/mnt/data`, `/`-separated, NFC. */
  readonly path: string
  readonly bytes: number
  readonly sha256: string | null
  readonly mime: string
  readonly source: 'user' | 'assistant'
  readonly createdAt: number
  /** Where the bytes lie. Random, never made from the path. */
  readonly objectKey: string
  readonly executionId: string | null
  /** False once a newer version has the path, or the file was deleted. */
  readonly isCurrent: boolean
  /** When it stopped being current, epoch ms. */
  readonly endedAt?: number
  /** `awaiting_upload` until the bytes of an upload URL have been seen; `swept` when only the row of a superseded version is left. */
  readonly state: 'stored' | 'awaiting_upload' | 'deleted' | 'swept'
  /** A request named it: its row outlives its bytes, so that it is not brought a second time over what code made of it. */
  readonly isBrought?: boolean
  /** The container generation whose sandbox has these bytes; 0 when none has. */
  readonly sandboxGeneration: number
}

/** A file as an execution hands it back. */
export interface ExecutionFile {
  readonly id: string
  readonly path: string
  readonly bytes: number
  readonly sha256: string
  readonly mime: string
  readonly isNew: boolean
  readonly modifiedFrom: string | null
}
