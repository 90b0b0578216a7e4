import { LIMITS } from '../../core/limits.ts'
import type { ObjectStore } from '../../core/ports/object-store.ts'

/** Makes URLs for one answer: short-lived, made at read time, under the address that the reader came by. */
export const presigner =
  (objects: Pick<ObjectStore, 'presignGet'>, publicUrl: string) =>
  (objectKey: string, filename: string, mime: string): Promise<string> =>
    objects.presignGet(objectKey, { publicUrl, filename, contentType: mime, expiresSeconds: LIMITS.presignedSeconds })
export type Presign = ReturnType<typeof presigner>
