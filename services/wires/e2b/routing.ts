import type * as z from 'zod'
import type { Scope } from '../../model/tenants/tenant.ts'
import { readJsonMessage } from '../../http/read-json.ts'
import { defineRoute, type AnyRoute, type Call, type Method, type WireAuth } from '../../http/route.ts'
import { refuse, refuseRpc } from './errors.ts'
import { E2B_PATH } from './hosts.ts'
import { authenticateControl, authenticateData } from './open-sandbox.ts'

const PLANES = {
  /** By API key. */
  control: { authenticate: authenticateControl, refuse },
  /** By the token of one sandbox. */
  data: { authenticate: authenticateData, refuse },
  /** The same, for calls of the Connect protocol. */
  rpc: { authenticate: authenticateData, refuse: refuseRpc },
} as const satisfies Record<string, WireAuth & Pick<Required<AnyRoute>, 'refuse'>>

interface E2bRoute {
  readonly plane: keyof typeof PLANES
  readonly method: Method
  readonly path: string
  readonly scope: Scope
  /** The schema that the handler passes to `bodyOf`. */
  readonly body?: () => z.ZodType
  readonly handle: (call: Call) => Promise<Response> | Response
}

/** A route of E2B's protocol. E2B specifies it, so our document does not contain it. */
export function e2bRoute({ plane, path, body, ...route }: E2bRoute): AnyRoute {
  const { authenticate, refuse: refuseCall } = PLANES[plane]
  return defineRoute({
    ...route,
    path: `${E2B_PATH}${path}`,
    operationId: `e2b ${route.method} ${path}`,
    tag: 'E2B',
    summary: `E2B: ${path}`,
    answers: {},
    auth: { authenticate },
    isForeign: true,
    ...(body && { ownBody: body }),
    refuse: refuseCall,
  })
}

/** The JSON body of a call. Throws ServiceError. */
export const bodyOf = <T>({ request }: Pick<Call, 'request'>, schema: z.ZodType<T>): Promise<T> => readJsonMessage(request, schema)
