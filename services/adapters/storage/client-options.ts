/** Options of one client of the SDK. Those that are not set come from the SDK's default chain (`AWS_REGION`, `AWS_ENDPOINT_URL_*` …). */
export interface ClientOptions {
  readonly region?: string
  readonly endpoint?: string
  readonly credentials?: { readonly accessKeyId: string; readonly secretAccessKey: string }
  /** Whether the endpoint belongs to an emulator: it has no subdomain for each bucket, and its queue URLs may name another host. */
  readonly isEmulated?: boolean
}

/**
 * Connections of one client; the SDK's default is 50. An answer that streams an object holds one for as long as its reader takes, so there must be more of
 * them than such answers (`services/http/object-answer.ts`).
 */
const AGENT = { keepAlive: true, maxSockets: 512 }

/** What the constructor of every client takes. */
export const constructorOptions = ({ isEmulated: _isEmulated, ...options }: ClientOptions) => ({
  ...options,
  requestHandler: { httpAgent: AGENT, httpsAgent: AGENT },
})

/** Middleware that the clients of the table and the queues leave out, because every execution calls them. */
export const UNUSED_MIDDLEWARE = ['loggerMiddleware', 'getUserAgentMiddleware', 'recursionDetectionMiddleware'] as const
