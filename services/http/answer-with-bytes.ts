import { ServiceError } from '../model/errors.ts'
import type { ApiDeps } from './deps.ts'
import { redirectTo } from './responses.ts'
import { presigner } from '../operations/files/presign.ts'

export interface StoredBytes {
  readonly objectKey: string
  readonly filename: string
  readonly mime: string
}

/**
 * Answers GET with a redirect to a presigned URL. HEAD is answered here with size and type, because the signature of a presigned URL covers the
 * method GET only. Throws ServiceError `file_not_found` for HEAD of bytes that no longer exist.
 */
export async function answerWithBytes(
  { deps, request, publicUrl }: { readonly deps: Pick<ApiDeps, 'objects'>; readonly request: Request; readonly publicUrl: string },
  { objectKey, filename, mime }: StoredBytes,
  headers: Readonly<Record<string, string>> = {},
): Promise<Response> {
  if (request.method !== 'HEAD') return redirectTo(await presigner(deps.objects, publicUrl)(objectKey, filename, mime), headers)
  const found = await deps.objects.head(objectKey)
  if (found === null)
    throw new ServiceError(
      'file_not_found',
      'The bytes of the file were deleted. List the files to find the current version, or upload the file again.',
    )
  return new Response(null, {
    headers: {
      'content-type': mime,
      'content-length': String(found.bytes),
      'accept-ranges': 'bytes',
      'cache-control': 'no-store',
      ...headers,
    },
  })
}
