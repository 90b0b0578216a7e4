import { ApiError, call, PAGE_HEADERS } from './call.ts'

/** Larger files go directly to the object store: a function behind the API takes no larger body. */
const DIRECT_UPLOAD_BYTES = 4 * 1024 * 1024

interface UploadUrl {
  readonly id: string
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
}

interface Progress {
  /** Receives the share that was sent, 0 to 1. */
  readonly onProgress: (share: number) => void
  /** Stops the upload. */
  readonly signal: AbortSignal
}

/** Puts a file into a container. */
export async function uploadFile(containerId: string, file: File, progress: Progress): Promise<void> {
  const path = `/v1/containers/${containerId}/files`
  if (file.size <= DIRECT_UPLOAD_BYTES) {
    const form = new FormData()
    form.append('file', file, file.name)
    await sendBytes('POST', path, { body: form, headers: PAGE_HEADERS, ...progress })
    return
  }
  const target = await call<UploadUrl>(`${path}/upload_url`, { body: { path: file.name, bytes: file.size } })
  await sendBytes('PUT', target.url, { body: file, headers: target.headers, ...progress })
  await call(`${path}/${target.id}/complete`, { method: 'POST' })
}

/** `fetch` reports no progress of an upload. */
function sendBytes(
  method: string,
  url: string,
  { body, headers, onProgress, signal }: Progress & { readonly body: FormData | File; readonly headers: Readonly<Record<string, string>> },
): Promise<void> {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest()
    request.open(method, url)
    // The browser sets the length itself and refuses a script that does.
    for (const [name, value] of Object.entries(headers)) if (name.toLowerCase() !== 'content-length') request.setRequestHeader(name, value)
    request.upload.addEventListener('progress', ({ loaded, total }) => onProgress(total === 0 ? 1 : loaded / total))
    request.addEventListener('error', () => reject(new TypeError('The connection broke.')))
    request.addEventListener('load', () => {
      if (request.status < 300) return resolve()
      reject(refusalOf(request))
    })
    request.addEventListener('abort', () => reject(new TypeError('The upload was stopped.')))
    signal.addEventListener('abort', () => request.abort())
    request.send(body)
  })
}

function refusalOf({ status, responseText }: XMLHttpRequest): ApiError {
  try {
    const { error } = JSON.parse(responseText) as { readonly error: { readonly message: string; readonly code: string | null } }
    return new ApiError(status, error.code ?? 'upload_failed', error.message)
  } catch {
    return new ApiError(status, 'upload_failed', `The upload failed (${status}). Try again.`)
  }
}
