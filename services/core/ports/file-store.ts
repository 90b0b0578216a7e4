import type { ContainerFile } from '../files/file.ts'

export interface FileStore {
  put(file: ContainerFile): Promise<void>
  get(tenant: string, containerId: string, id: string): Promise<ContainerFile | null>
  /** By its id alone, whichever container it is in: an id may be named when another container wants a copy. May lag behind. */
  find(tenant: string, id: string): Promise<ContainerFile | null>
  /** All rows of a container, superseded and deleted ones included, oldest first. Consistent. */
  all(tenant: string, containerId: string): Promise<readonly ContainerFile[]>
  patch(
    tenant: string,
    containerId: string,
    id: string,
    change: Partial<Pick<ContainerFile, 'isCurrent' | 'endedAt' | 'state' | 'sandboxGeneration' | 'bytes' | 'sha256' | 'createdAt'>>,
  ): Promise<ContainerFile | null>
  remove(tenant: string, containerId: string, id: string): Promise<void>
}
