import type { UserFile } from '../model/files/user-file.ts'
import type { Page, PageRequest } from '../model/page.ts'

/** Files outside containers. Rows are returned also after `expiresAt`: the reader compares the time. */
export interface UserFileStore {
  /** False when the id exists; the row is then not changed. */
  create(file: UserFile): Promise<boolean>
  get(tenant: string, id: string): Promise<UserFile | null>
  list(tenant: string, page: PageRequest): Promise<Page<UserFile>>
  remove(tenant: string, id: string): Promise<void>
}
