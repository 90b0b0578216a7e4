import type { Upload, UploadPart } from '../model/files/upload.ts'

export interface UploadStore {
  create(upload: Upload): Promise<void>
  get(tenant: string, id: string): Promise<Upload | null>
  addPart(part: UploadPart): Promise<void>
  /** All parts, oldest first. Consistent. */
  parts(tenant: string, uploadId: string): Promise<readonly UploadPart[]>
  /** One conditional write: `pending` becomes this status. Null when the upload was not pending. */
  end(tenant: string, id: string, status: 'completed' | 'cancelled'): Promise<Upload | null>
  /** Removes the rows of its parts, then its row. */
  remove(tenant: string, id: string): Promise<void>
}
