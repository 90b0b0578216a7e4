import type * as z from 'zod'
import type { Caller, Scope } from '../model/tenants/tenant.ts'
import type { IdKind } from '../model/ids.ts'
import type { ErrorCode, ServiceError } from '../model/errors.ts'
import type { Authenticate } from './authenticate.ts'
import type { ApiDeps } from './deps.ts'
import type { RunContext } from '../operations/executions/run-code.ts'

export type Method = 'get' | 'post' | 'put' | 'delete'

/** The checked call, as a handler receives it. */
export interface Call<Query = unknown, Body = unknown> {
  readonly deps: ApiDeps
  readonly caller: Caller
  /** The caller by the key: for routes that need a key by configuration, and to detect revocation. Throws ServiceError `invalid_api_key`. */
  readonly authenticate: () => Promise<Caller>
  readonly request: Request
  /** A path parameter: not empty, but not necessarily of the form of an id. */
  readonly param: (name: string) => string
  readonly query: Query
  readonly body: Body
  /** The raw body; empty unless the route accepts JSON. */
  readonly rawBody: Uint8Array
  readonly publicUrl: string
  readonly requestId: string
  /** Adds to the wide event of this request: ids and counts, never content. */
  readonly note: (name: string, value: string | number | boolean | null) => void
}

export interface Answer {
  readonly description: string
  readonly schema?: () => z.ZodType
  readonly contentType?: string
  /** Schema of `data` of its server-sent events, if a call can request those instead. */
  readonly events?: () => z.ZodType
  readonly headers?: Readonly<Record<string, string>>
}

interface RouteMetadata {
  readonly method: Method
  /** OpenAPI's form: `/v1/containers/{container_id}`. */
  readonly path: string
  readonly operationId: string
  readonly tag: string
  readonly summary: string
  readonly description?: string
  readonly answers: Readonly<Record<number, Answer>>
  /** Request headers that it reads, with their meaning. */
  readonly headers?: Readonly<Record<string, string>>
  /** The kind of object that it creates under an id from `claimId`, so that a repeated call creates it once. */
  readonly creates?: IdKind
  /** The schema of its errors, for a wire with another envelope than ours. */
  readonly errorBody?: () => z.ZodType
  /** Error codes of this route, besides those of every route. */
  readonly errors?: readonly ErrorCode[]
  /** The largest JSON body, bytes; LIMITS.maxJsonBytes when absent, and for a body without an announced length. */
  readonly maxBodyBytes?: number
  /** Documentation of a body that the handler itself reads. */
  readonly streamed?: {
    readonly contentType: string
    readonly schema: () => z.ZodType
    readonly description: string
    /** The JSON that it accepts instead. */
    readonly json?: () => z.ZodType
    /** Whether the body is optional. */
    readonly isOptional?: boolean
  }
  /** A refusal in the form of another protocol, also one of the checks before the handler; our envelope when absent. */
  readonly refuse?: (error: ServiceError) => Response
  /** Another product specifies the route: our document does not contain it, its handler reads the body, and its clients send no idempotency key. */
  readonly isForeign?: true
  /** The schema of a body that the handler itself reads, if the route has no `streamed`. */
  readonly ownBody?: () => z.ZodType
}

/** The credentials of another protocol than ours. */
export interface WireAuth {
  /** The caller by these credentials. `byKey` identifies the caller of a request with a bearer key. Throws ServiceError. */
  readonly authenticate: (request: Request, deps: ApiDeps, byKey: Authenticate) => Promise<Caller>
}

/** Who may call a route, and the scope that the caller needs. */
export type RouteAccess =
  /** Anyone, without credentials. */
  | { readonly auth: 'public'; readonly scope?: undefined }
  /** `key`: an API key or a token of a configured issuer. `session`: also the session of the web page. */
  | { readonly auth: 'key' | 'session' | WireAuth; readonly scope: Scope }

/** A protocol as the documentation presents it. */
export interface WireDescription {
  /** The tag of its routes. */
  readonly name: string
  readonly description: string
  /** What a language model has to know to use it. */
  readonly hint?: (publicUrl: string) => string
}

/** One route: its documentation, its access, its schemas and its handler in one place. */
export type Route<Query = unknown, Body = unknown> = RouteMetadata &
  RouteAccess & {
    readonly query?: () => z.ZodType<Query>
    /** The JSON body. */
    readonly body?: () => z.ZodType<Body>
    readonly handle: (call: Call<Query, Body>) => Promise<Response> | Response
  }

/** Ties the types of a route's schemas to its handler. */
export const defineRoute = <Query, Body>(route: Route<Query, Body>): Route<Query, Body> => route
/** A route of any schema types. */
export type AnyRoute = RouteMetadata &
  RouteAccess & {
    readonly query?: () => z.ZodType
    readonly body?: () => z.ZodType
    readonly handle: (call: Call<never, never>) => Promise<Response> | Response
  }

/** The context of a call for the services that run code. */
export const runContext = ({ deps, caller, publicUrl, request, note }: Call): RunContext => ({
  deps,
  caller,
  publicUrl,
  signal: request.signal,
  hold: () => deps.holds.take(caller.tenant, 'wait'),
  note,
})
