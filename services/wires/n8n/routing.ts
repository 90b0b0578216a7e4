import type * as z from 'zod'
import type { Scope } from '../../model/tenants/tenant.ts'
import { withKey } from '../../http/authenticate.ts'
import { defineRoute, type AnyRoute, type Call, type Method, type WireAuth } from '../../http/route.ts'
import { refuse } from './errors.ts'

/** Where the wire is served. Clients get this address as their base URL. */
const PATH = '/n8n'

/** Clients send the key as `X-Api-Key`. */
const auth: WireAuth = {
  authenticate(request, _deps, byKey) {
    const key = request.headers.get('x-api-key')
    return byKey(key === null ? request : withKey(request, key))
  },
}

interface SandboxRoute<Query> {
  readonly method: Method
  readonly path: string
  readonly scope: Scope
  readonly query?: () => z.ZodType<Query>
  /** The schema of a JSON body, which the handler reads. */
  readonly ownBody?: () => z.ZodType
  readonly handle: (call: Call<Query>) => Promise<Response> | Response
}

/** n8n specifies the route, so our document does not contain it. */
const described = (method: Method, path: string) =>
  ({
    method,
    path: `${PATH}${path}`,
    operationId: `n8n ${method} ${path}`,
    tag: 'n8n',
    summary: `n8n: ${path}`,
    answers: {},
    isForeign: true,
    refuse,
  }) as const

/** A route of n8n's sandbox service. */
export const sandboxRoute = <Query = unknown>({ method, path, ...route }: SandboxRoute<Query>): AnyRoute =>
  defineRoute({ ...described(method, path), ...route, auth })

/** The same without credentials. */
export const publicRoute = (path: string, handle: () => Response): AnyRoute =>
  defineRoute({ ...described('get', path), auth: 'public', handle })
