import { Agent } from 'node:http'

/** Options of one client of the SDK. Those that are not set come from the SDK's default chain (`AWS_REGION`, `AWS_ENDPOINT_URL_*` …). */
export interface ClientOptions {
  readonly region?: string
  readonly endpoint?: string
  readonly credentials?: { readonly accessKeyId: string; readonly secretAccessKey: string }
  /** Whether the endpoint belongs to an emulator: it has no subdomain for each bucket, and its queue URLs may name another host. */
  readonly isEmulated?: boolean
}

/** What the constructor of every client takes. */
export const constructorOptions = ({ isEmulated = false, ...options }: ClientOptions) => ({
  ...options,
  ...(isEmulated ? { requestHandler: { httpAgent: new Agent({ keepAlive: true, maxSockets: 512 }) } } : {}),
})

/** Middleware that the clients of the table and the queues leave out, because every execution calls them. */
export const UNUSED_MIDDLEWARE = ['loggerMiddleware', 'getUserAgentMiddleware', 'recursionDetectionMiddleware'] as const
