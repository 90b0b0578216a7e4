import { OpenAPIHono } from '@hono/zod-openapi'
import { ServiceError } from '../core/errors.ts'
import { createBudgetReader } from '../core/tenants/budget.ts'
import { createRequestLimiter } from '../core/tenants/request-limiter.ts'
import { createLimitReader } from '../core/tenants/limit-reader.ts'
import type { Caller } from '../core/tenants/tenant.ts'
import type { ApiDeps, ApiPorts } from './deps.ts'
import { createTokenVerifier } from './http/verify-token.ts'
import { createAuthenticator } from './http/authenticate.ts'
import { mountRoute } from './http/mount-route.ts'
import { createResultBudget } from './executions/result-budget.ts'
import { createStreamSlots } from './http/stream-slots.ts'
import { allowOrigins, refuseForeignOrigins } from './middleware/cross-origin.ts'
import { handleErrors } from './middleware/errors.ts'
import { securityHeaders } from './middleware/security-headers.ts'
import { trustedHosts } from './middleware/trusted-hosts.ts'
import { wideEvent, type ApiHono } from './middleware/wide-event.ts'
import { mountDocs } from './meta/docs.ts'
import { mountPage } from './page/mount-page.ts'
import { acceptSessions } from './page/page-session.ts'
import { ROUTES } from './wires/routes.ts'

const NO_KEY: Caller = { tenant: '', subject: null, keyId: '', scopes: ['run'] }

/** With the fixtures of MCP's conformance suite, which sends no key, a call without one may use the fixtures. Product tools still refuse it. */
const fixtureAuthenticator =
  ({ mcpFixtures }: ApiDeps, authenticate: (request: Request) => Promise<Caller>) =>
  async (request: Request): Promise<Caller> =>
    mcpFixtures !== undefined && !request.headers.has('authorization') ? NO_KEY : authenticate(request)

/** Older LibreChat clients send the key as `X-API-Key`. Throws ServiceError for two keys: it would be unclear which one counts. */
const apiKeyAuthenticator =
  (authenticate: (request: Request) => Promise<Caller>) =>
  async (request: Request): Promise<Caller> => {
    const key = request.headers.get('x-api-key')
    if (key === null) return authenticate(request)
    if (request.headers.has('authorization'))
      throw new ServiceError('invalid_request', 'Send one key: either X-API-Key or Authorization.', { param: 'X-API-Key' })
    return authenticate(new Request(request.url, { headers: { authorization: `Bearer ${key}` } }))
  }

/** The HTTP edge: the same app under Node's server and under Lambda. */
export function createApp(ports: ApiPorts): OpenAPIHono<ApiHono> {
  const limits = createLimitReader(ports.table.tenants, ports.clock)
  const deps: ApiDeps = {
    ...ports,
    streams: createStreamSlots(ports.config.maxOpenStreams),
    results: createResultBudget(ports.config.maxResultBytesInFlight),
    limits,
    requests: createRequestLimiter(ports.table.quotas, limits, ports.clock),
    budget: createBudgetReader(ports.table.usage, limits, ports.clock),
  }
  const app = new OpenAPIHono<ApiHono>()
  app.use('*', wideEvent(deps))
  app.use('*', securityHeaders)
  if (deps.config.allowedHosts !== null) app.use('*', trustedHosts(deps.config, deps.config.allowedHosts))
  app.use('*', refuseForeignOrigins(deps.config))
  if (deps.config.corsOrigins.length > 0) app.use('*', allowOrigins(deps.config.corsOrigins))
  const { tokenIssuers, keyCacheMs } = deps.config
  const hasTenant = async (id: string): Promise<boolean> => (await deps.table.tenants.get(id)) !== null
  const verifyToken = tokenIssuers.length === 0 ? null : createTokenVerifier(tokenIssuers, deps.clock, hasTenant)
  const byKey = createAuthenticator(deps.table.tenants, deps.clock, keyCacheMs, verifyToken)
  const { page } = deps
  const authenticate = page === undefined ? byKey : acceptSessions(byKey, page, deps.clock)
  const withFixtures = fixtureAuthenticator(deps, authenticate)
  const withApiKey = apiKeyAuthenticator(authenticate)
  for (const route of ROUTES) {
    const isLibreChat = route.path.startsWith('/librechat/')
    mountRoute(app, deps, route.operationId === 'mcp' ? withFixtures : isLibreChat ? withApiKey : authenticate, route)
  }
  mountDocs(app, deps.config)
  if (page !== undefined) mountPage(app, { page, config: deps.config, clock: deps.clock, authenticate: byKey })
  handleErrors(app)
  return app
}
