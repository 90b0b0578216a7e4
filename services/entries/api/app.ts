import { Hono } from 'hono'
import { ServiceError } from '../../model/errors.ts'
import { createBudgetReader } from '../../operations/tenancy/budget.ts'
import { createRequestLimiter } from '../../operations/tenancy/request-limiter.ts'
import { createLimitReader } from '../../operations/tenancy/limit-reader.ts'
import { meterObjects } from '../../operations/tenancy/meter-objects.ts'
import { createResourceCounts } from '../../operations/tenancy/resource-counts.ts'
import type { Caller } from '../../model/tenants/tenant.ts'
import type { ApiDeps, ApiPorts } from '../../http/deps.ts'
import { AuditLog } from '../../operations/audit/audit-log.ts'
import type { VerifiedToken } from '../../http/verify-token.ts'
import { createAuthenticator } from '../../http/authenticate.ts'
import { routedPath } from '../../http/e2b-hosts.ts'
import { mountRoute } from '../../http/mount-route.ts'
import { AnswerBudget } from '../../http/answer-budget.ts'
import { answerPool, requestPool } from '../../http/connection-budget.ts'
import { createStreamSlots } from '../../http/stream-slots.ts'
import { allowOrigins, refuseForeignOrigins } from '../../http/middleware/cross-origin.ts'
import { handleErrors } from '../../http/middleware/errors.ts'
import { securityHeaders } from '../../http/middleware/security-headers.ts'
import { trustedHosts } from '../../http/middleware/trusted-hosts.ts'
import { wideEvent, type ApiHono } from '../../http/middleware/wide-event.ts'
import { mountDocs } from './docs.ts'
import { mountErrorPages } from './error-pages.ts'
import { mountLlms } from './llms.ts'
import { mountGuide } from '../../http/page/guide.ts'
import { mountPage } from '../../http/page/mount-page.ts'
import { acceptSessions } from '../../http/page/page-session.ts'
import { ROUTES } from '../../wires/routes.ts'

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

/** The verifier of the configured issuers' tokens; null without an issuer. Its library is loaded with the first token. */
function tokenVerifier({ config, table, clock }: ApiDeps): ((token: string) => Promise<VerifiedToken | null>) | null {
  const { tokenIssuers } = config
  if (tokenIssuers.length === 0) return null
  const hasTenant = async (id: string): Promise<boolean> => {
    const tenant = await table.tenants.get(id)
    return tenant !== null && tenant.deletion === undefined
  }
  const load = async () => (await import('../../http/verify-token.ts')).createTokenVerifier(tokenIssuers, clock, hasTenant)
  let verifier: ReturnType<typeof load> | null = null
  return async (token) => (await (verifier ??= load()))(token)
}

/** The HTTP edge: the same app under Node's server and under Lambda. */
export function createApp(ports: ApiPorts): Hono<ApiHono> {
  const limits = createLimitReader(ports.table.tenants, ports.clock)
  const counts = createResourceCounts({ ...ports, limits })
  const answers = answerPool(ports.config.maxResultBytesInFlight)
  const deps: ApiDeps = {
    ...ports,
    objects: meterObjects(ports.objects, counts.storageBytes, { isStrict: true }),
    counts,
    streams: createStreamSlots(ports.config.maxOpenStreams),
    bodies: requestPool(ports.config.maxRequestBytesInFlight),
    answers,
    results: new AnswerBudget(answers.lease('')),
    limits,
    audit: new AuditLog(ports, ports.config.auditFlushMs),
    requests: createRequestLimiter(ports.table.quotas, limits, ports.clock),
    budget: createBudgetReader(ports.table.usage, limits, ports.clock, ports.prices),
  }
  const app = new Hono<ApiHono>({ getPath: (request) => routedPath(request, ports.config) })
  app.use('*', wideEvent(deps))
  app.use('*', securityHeaders)
  if (deps.config.allowedHosts !== null) app.use('*', trustedHosts(deps.config, deps.config.allowedHosts))
  app.use('*', refuseForeignOrigins(deps.config))
  if (deps.config.corsOrigins.length > 0) app.use('*', allowOrigins(deps.config.corsOrigins))
  const { page, implicitCaller } = deps
  const byKey =
    implicitCaller === undefined
      ? createAuthenticator(deps.table.tenants, deps.clock, deps.config.keyCacheMs, tokenVerifier(deps))
      : () => Promise.resolve(implicitCaller)
  const authenticate = page === undefined ? byKey : acceptSessions(byKey, page, deps.clock)
  const withFixtures = fixtureAuthenticator(deps, authenticate)
  const withApiKey = apiKeyAuthenticator(authenticate)
  for (const route of ROUTES) {
    const isLibreChat = route.path.startsWith('/librechat/')
    mountRoute(app, deps, route.operationId === 'mcp' ? withFixtures : isLibreChat ? withApiKey : authenticate, route)
  }
  mountDocs(app, deps)
  mountErrorPages(app)
  mountLlms(app, deps.config)
  if (page) mountGuide(app, page.readGuide ?? null)
  if (page !== undefined) mountPage(app, { ...deps, page, authenticate: byKey })
  handleErrors(app)
  return app
}
