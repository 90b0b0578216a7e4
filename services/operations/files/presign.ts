import { LIMITS } from '../../model/limits.ts'
import type { ObjectStore } from '../../ports/object-store.ts'
import type { Caller } from '../../model/tenants/tenant.ts'

/** Creates URLs for one answer: short-lived, created at read time, below the base URL that the client used. */
export const presigner =
  (objects: Pick<ObjectStore, 'presignGet'>, publicUrl: string) =>
  (objectKey: string, filename: string, mime: string): Promise<string> =>
    objects.presignGet(objectKey, { publicUrl, filename, contentType: mime, expiresSeconds: LIMITS.presignedSeconds })
export type Presign = ReturnType<typeof presigner>

/** As `presigner`, for files. A URL is as good as the bytes, so a caller without the scope `files` gets null. */
export const filePresigner = (
  objects: Pick<ObjectStore, 'presignGet'>,
  publicUrl: string,
  { scopes }: Pick<Caller, 'scopes'>,
): ((...file: Parameters<Presign>) => Promise<string | null>) =>
  scopes.includes('files') ? presigner(objects, publicUrl) : async () => null
export type PresignFile = ReturnType<typeof filePresigner>
