import type { z } from '@hono/zod-openapi'
import type { Caller, Scope } from '../../core/tenants/tenant.ts'
import type { IdKind } from '../../core/ids.ts'
import type { ErrorCode } from '../../core/errors.ts'
import type { ApiDeps } from '../deps.ts'
import type { RunContext } from '../executions/run-code.ts'

export type Method = 'get' | 'post' | 'put' | 'delete'

/** What a handler gets: everything about the call is checked by then. */
export interface Call<Query = unknown, Body = unknown> {
  readonly deps: ApiDeps
  readonly caller: Caller
  /** Who calls, by the key: for routes that need one by configuration, and to see a key revoked. Throws ServiceError `invalid_api_key`. */
  readonly authenticate: () => Promise<Caller>
  readonly request: Request
  /** A path parameter; it has some text, and need not have the form of an id. */
  readonly param: (name: string) => string
  readonly query: Query
  readonly body: Body
  /** The body as it came; empty unless the route takes JSON. */
  readonly rawBody: Uint8Array
  readonly publicUrl: string
  readonly requestId: string
  /** Adds to the wide event of this request: ids and counts, never content. */
  readonly note: (name: string, value: string | number | boolean | null) => void
}

export interface Answer {
  readonly description: string
  readonly schema?: z.ZodType
  readonly contentType?: string
  /** The `data` of its server-sent events, where a call can ask for those instead. */
  readonly events?: z.ZodType
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
  /** The scope that a key needs; `public` for the few routes that answer without a key. */
  readonly scope: Scope | 'public'
  readonly answers: Readonly<Record<number, Answer>>
  /** Request headers that it listens to, with what they mean. */
  readonly headers?: Readonly<Record<string, string>>
  /** The kind of object that it creates under an id from `claimId`, so that a repeated call creates it once. */
  readonly creates?: IdKind
  /** Error codes of this route, besides those that every route can answer. */
  readonly refusals?: readonly ErrorCode[]
  /** A body that the handler reads by itself, for the documentation. */
  readonly streamed?: {
    readonly contentType: string
    readonly schema: z.ZodType
    readonly description: string
    /** Whether the body may be left out. */
    readonly isOptional?: boolean
  }
}

/** One route: its documentation, its schemas and its handler in one place. */
export interface Route<Query = unknown, Body = unknown> extends RouteMetadata {
  readonly query?: z.ZodType<Query>
  /** The JSON body. */
  readonly body?: z.ZodType<Body>
  readonly handle: (call: Call<Query, Body>) => Promise<Response> | Response
}

/** Ties the types of a route's schemas to its handler. */
export const defineRoute = <Query, Body>(route: Route<Query, Body>): Route<Query, Body> => route
/** A route among others. */
export type AnyRoute = Omit<Route, 'handle' | 'query' | 'body'> & {
  readonly query?: z.ZodType
  readonly body?: z.ZodType
  readonly handle: (call: Call<never, never>) => Promise<Response> | Response
}

/** What the service that runs code has to know about a call. */
export const runContext = ({ deps, caller, publicUrl, request, note }: Call): RunContext => ({
  deps,
  caller,
  publicUrl,
  signal: request.signal,
  note,
})
