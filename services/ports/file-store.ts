import type { ContainerFile } from '../model/files/file.ts'

export interface FileStore {
  put(file: ContainerFile): Promise<void>
  get(tenant: string, containerId: string, id: string): Promise<ContainerFile | null>
  /** Finds a file by its id in any container of the tenant, for copies between containers. Eventually consistent. */
  find(tenant: string, id: string): Promise<ContainerFile | null>
  /** All rows of a container, superseded and deleted ones included, oldest first. Consistent. */
  all(tenant: string, containerId: string): Promise<readonly ContainerFile[]>
  patch(
    file: Pick<ContainerFile, 'tenant' | 'containerId' | 'id'>,
    change: Partial<Pick<ContainerFile, 'isCurrent' | 'endedAt' | 'state' | 'sandboxGeneration' | 'bytes' | 'sha256' | 'createdAt'>>,
  ): Promise<ContainerFile | null>
  remove(tenant: string, containerId: string, id: string): Promise<void>
}
