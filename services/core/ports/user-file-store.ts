import type { UserFile } from '../files/user-file.ts'
import type { Page, PageRequest } from './page.ts'

/** Files outside containers. A row is given back also after `expiresAt`: its reader compares the time. */
export interface UserFileStore {
  /** False when the id exists already; nothing is changed then. */
  create(file: UserFile): Promise<boolean>
  get(tenant: string, id: string): Promise<UserFile | null>
  list(tenant: string, page: PageRequest): Promise<Page<UserFile>>
  remove(tenant: string, id: string): Promise<void>
}
