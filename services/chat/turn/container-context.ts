import type { ContainerFile } from '../../core/files/file.ts'

/** Where a turn's code will run. `auto` means the container of an earlier turn, else one that is made when code first runs. */
export interface ContainerContext {
  readonly containerId: string
  readonly exists: boolean
  /** Files that the model is told of: those of the container, or those it will be made with. */
  readonly files: readonly Pick<ContainerFile, 'id' | 'path' | 'bytes' | 'source'>[]
  /** Those of them that are there, for links. */
  readonly stored: readonly ContainerFile[]
  /** When that was read, epoch ms. */
  readonly readAt: number
}
