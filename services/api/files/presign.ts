import { LIMITS } from '../../core/limits.ts'
import type { ObjectStore } from '../../core/ports/object-store.ts'

/** Creates URLs for one answer: short-lived, created at read time, below the base URL that the client used. */
export const presigner =
  (objects: Pick<ObjectStore, 'presignGet'>, publicUrl: string) =>
  (objectKey: string, filename: string, mime: string): Promise<string> =>
    objects.presignGet(objectKey, { publicUrl, filename, contentType: mime, expiresSeconds: LIMITS.presignedSeconds })
export type Presign = ReturnType<typeof presigner>
