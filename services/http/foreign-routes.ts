import type * as z from 'zod'
import type { ServiceError } from '../model/errors.ts'
import type { Scope } from '../model/tenants/tenant.ts'
import { defineRoute, type AnyRoute, type Call, type Method, type WireAuth } from './route.ts'

interface ForeignApi {
  /** Where the wire is served. */
  readonly prefix: string
  readonly tag: string
  readonly auth: WireAuth
  /** An error in the form of the wire. */
  readonly refuse: (error: ServiceError) => Response
}

interface ForeignRoute<Query> {
  readonly method: Method
  readonly path: string
  readonly scope: Scope
  readonly query?: () => z.ZodType<Query>
  /** The schema of a JSON body, which the handler reads. */
  readonly ownBody?: () => z.ZodType
  readonly handle: (call: Call<Query>) => Promise<Response> | Response
}

/** Makes the routes of an API that others specify, so our document does not contain them. `open` makes a GET route without credentials. */
export function foreignRoutes({ prefix, tag, auth, refuse }: ForeignApi) {
  const described = (method: Method, path: string) =>
    ({
      method,
      path: `${prefix}${path}`,
      operationId: `${prefix.slice(1)} ${method} ${path}`,
      tag,
      summary: `${tag}: ${path}`,
      answers: {},
      isForeign: true,
      refuse,
    }) as const
  return {
    route: <Query = unknown>({ method, path, ...route }: ForeignRoute<Query>): AnyRoute =>
      defineRoute({ ...described(method, path), ...route, auth }),
    open: (path: string, handle: (call: Call) => Promise<Response> | Response): AnyRoute =>
      defineRoute({ ...described('get', path), auth: 'public', handle }),
  }
}
