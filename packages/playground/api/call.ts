import { isSignedIn } from '../session.ts'

/** A refusal of the API, with its code and its sentence. */
export class ApiError extends Error {
  readonly status: number
  readonly code: string
  constructor(status: number, code: string, message: string) {
    super(message)
    this.status = status
    this.code = code
  }
}

export interface CallOptions {
  readonly method?: 'GET' | 'POST' | 'PUT' | 'DELETE'
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
  readonly signal?: AbortSignal
  /** The request is sent even while the page closes. */
  readonly keepalive?: boolean
}

/** The server accepts a session cookie for changes only with this header. */
export const PAGE_HEADERS = { 'x-cellblock-page': '1' } as const

/** Sends a request of this page. Throws ApiError for a refusal and TypeError when the server does not answer. */
export async function send(path: string, options: CallOptions = {}): Promise<Response> {
  const { method = options.body === undefined ? 'GET' : 'POST', body, headers = {}, signal, keepalive = false } = options
  const response = await fetch(path, {
    method,
    keepalive,
    headers: { ...PAGE_HEADERS, ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    ...(signal === undefined ? {} : { signal }),
  })
  if (response.ok) return response
  const error = await errorOf(response)
  if (error.status === 401 && path !== '/session') isSignedIn.value = false
  throw error
}

/** As `send`, with the JSON of the answer. */
export async function call<T>(path: string, options: CallOptions = {}): Promise<T> {
  return (await (await send(path, options)).json()) as T
}

async function errorOf(response: Response): Promise<ApiError> {
  try {
    const { error } = (await response.json()) as { readonly error: { readonly message: string; readonly code: string | null } }
    return new ApiError(response.status, error.code ?? 'error', error.message)
  } catch {
    return new ApiError(response.status, 'error', `The server answered ${response.status}. Try again.`)
  }
}

/** The sentence that a person reads. */
export const messageOf = (error: unknown): string =>
  error instanceof ApiError ? withoutRoutes(error.message) : 'The server does not answer. Check that it runs, then try again.'

/** Advice to call a route is for programs. */
function withoutRoutes(message: string): string {
  const sentences = message.split(/(?<=[.!?]) (?=[A-Z])/).filter((one) => !/\b(?:GET|POST|PUT|DELETE) \/v1\//.test(one))
  return sentences.length === 0 ? message : sentences.join(' ')
}
