import * as z from 'zod'
import { ERRORS, ServiceError, type ErrorCode } from '../../model/errors.ts'
import { foreignRoutes } from '../../http/foreign-routes.ts'
import { json } from '../../http/responses.ts'
import type { WireAuth } from '../../http/route.ts'

/** Where the wire is served. Open WebUI gets this address as the URL of a terminal connection. */
export const PATH = '/open-webui'
export const USER_HEADER = 'x-user-id'
/** No colon, which separates the parts of a container's name. */
const USER = /^[\w.@+-]{1,100}$/

/** The end user whom Open WebUI names beside its key; empty when the request names none. Throws ServiceError. */
export function userOf({ headers }: Pick<Request, 'headers'>): string {
  const user = headers.get(USER_HEADER) ?? ''
  if (user === '' || USER.test(user)) return user
  throw new ServiceError('invalid_request', `${USER_HEADER} must have 1 to 100 letters, digits and . @ + _ -. Send the id of the user.`)
}

/** By API key. A key of the whole account acts for the user that the request names, so every row belongs to that user and no other one sees it. */
const auth: WireAuth = {
  async authenticate(request, _deps, byKey) {
    const caller = await byKey(request)
    const user = userOf(request)
    return caller.subject === null && user !== '' ? { ...caller, subject: user } : caller
  },
}

/** Sentences that name routes of another wire. */
const TEXT: Partial<Record<ErrorCode, string>> = {
  container_not_found: 'This user has no terminal yet. Run a command, or write a file.',
  command_not_found: 'There is no such process. List the processes, or run the command again.',
}

/** `{detail, code}`: the page and the model read the sentence. */
function refuse(error: ServiceError): Response {
  const { status, retryable } = ERRORS[error.code]
  const headers: Record<string, string> = status === 401 ? { 'www-authenticate': 'Bearer' } : {}
  if (status === 429 && retryable) headers['retry-after'] = String(error.limit?.retryAfterSeconds ?? 1)
  return json(status, { detail: TEXT[error.code] ?? error.message, code: error.code }, headers)
}

/** Routes of Open Terminal's API, and those without credentials. */
export const { route: terminalRoute, open: publicRoute } = foreignRoutes({ prefix: PATH, tag: 'Open WebUI', auth, refuse })

/** A whole number of a query. */
export const count = (min: number, max = Number.MAX_SAFE_INTEGER) =>
  z
    .string()
    .regex(/^\d{1,15}$/, 'give a whole number')
    .transform(Number)
    .pipe(z.number().min(min).max(max))

/** Python's clients write `True`. */
export const flag = () =>
  z
    .string()
    .regex(/^(?:true|false|1|0)$/i, 'give true or false')
    .transform((value) => /^(?:true|1)$/i.test(value))
