import OpenAI from 'openai'
import { createEndpointFetch, type EndpointFetchOptions } from './endpoint-fetch.ts'

export interface Endpoint {
  readonly baseUrl: string
  /** Null for endpoints without authentication, such as local servers. */
  readonly apiKey: string | null
}

/** Number of retries by the package before an answer starts, on 408, 409, 429, 5xx and lost connections, with back-off or `retry-after`. */
const MAX_RETRIES = 2
/** Maximum time until an endpoint starts its answer, milliseconds. */
const TIMEOUT_MS = 600_000

/**
 * The `openai` package for one endpoint. Organization, project and log level come from here only: the package would read them from the environment
 * and send them to endpoints that they do not belong to.
 */
export class EndpointClient extends OpenAI {
  constructor({ baseUrl, apiKey }: Endpoint, options: EndpointFetchOptions = {}) {
    const { origin, pathname, searchParams } = new URL(baseUrl)
    super({
      baseURL: `${origin}${pathname.replace(/\/+$/, '')}`,
      defaultQuery: Object.fromEntries(searchParams),
      apiKey: apiKey ?? 'unused',
      adminAPIKey: null,
      organization: null,
      project: null,
      webhookSecret: null,
      maxRetries: MAX_RETRIES,
      timeout: TIMEOUT_MS,
      logLevel: 'off',
      fetch: createEndpointFetch(options),
      defaultHeaders: { 'user-agent': 'cellblock', ...(apiKey === null ? { authorization: null } : {}) },
    })
  }

  /** Some endpoints send `{message}` or `{detail}` without OpenAI's `error` around it, and the package would lose the text. */
  protected override makeStatusError(...[status, body, message, headers]: Parameters<OpenAI['makeStatusError']>) {
    const isWrapped = typeof body !== 'object' || body === null || 'error' in body
    return super.makeStatusError(status, isWrapped ? body : { error: body }, message, headers)
  }
}
