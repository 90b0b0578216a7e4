import { Hono } from 'hono'
import { compress } from 'hono/compress'
import { createBudgetReader } from '../../operations/tenancy/budget.ts'
import { createRequestLimiter } from '../../operations/tenancy/request-limiter.ts'
import type { Holds } from '../../operations/tenancy/hold.ts'
import { defaultsFor } from '../../model/tenants/tenant-limits.ts'
import { createLimitReader, type LimitReader } from '../../operations/tenancy/limit-reader.ts'
import { meterStorage } from '../../operations/tenancy/meter-storage.ts'
import { createResourceCounts } from '../../operations/tenancy/resource-counts.ts'
import type { ApiDeps, ApiPorts } from '../../http/deps.ts'
import { AuditLog } from '../../operations/audit/audit-log.ts'
import type { VerifiedToken } from '../../http/verify-token.ts'
import { createAuthenticator } from '../../http/authenticate.ts'
import { mountRoute } from '../../http/mount-route.ts'
import { AnswerBudget } from '../../http/answer-budget.ts'
import { RoundRobin } from '../../http/round-robin.ts'
import { KeptDocuments } from '../../http/kept-documents.ts'
import { refuseInTurn, takeTurn } from '../../http/middleware/take-turn.ts'
import { answerPool, requestPool } from '../../http/connection-budget.ts'
import type { AnyRoute } from '../../http/route.ts'
import { createStreamSlots, processHolds } from '../../http/stream-slots.ts'
import { SharedHolds } from '../../operations/tenancy/shared-holds.ts'
import { allowOrigins, refuseForeignOrigins, securityHeaders, trustedHosts } from '../../http/middleware/cross-origin.ts'
import { handleErrors } from '../../http/middleware/errors.ts'
import { wideEvent, type ApiHono } from '../../http/middleware/wide-event.ts'
import { mountDocs, mountLlms } from './docs.ts'
import { mountErrorPages } from './error-pages.ts'
import { mountGuide } from '../../http/page/guide.ts'
import { mountPage } from '../../http/page/mount-page.ts'
import { EndedSessions } from '../../http/page/ended-sessions.ts'
import { acceptSessions } from '../../http/page/page-session.ts'
import { routedPath } from '../../http/wire-hosts.ts'
import { ROUTES, wireHosts } from '../../wires/routes.ts'

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

function holdsOf({ config: { openCalls: capacity, maxOpenStreams }, clock, table }: ApiPorts, limits: LimitReader): Holds {
  if (capacity === null) return processHolds(createStreamSlots(maxOpenStreams), limits)
  return new SharedHolds({ sharedRows: table.sharedRows, limits, clock, capacity })
}

/** Of the page, the guide and the reference: about 150, of 10 MB together. */
const MAX_FILES = 300
/** What clients without a key can request besides the routes. */
const DOCUMENTS = ['/', '/assets/*', '/chat/*', '/s/*', '/docs', '/docs/*', '/openapi.json', '/llms.txt', '/session']

/** The HTTP edge: the same app under Node's server and under Lambda. `routes`: other ones than the product's, for a test. */
export function createApp(ports: ApiPorts, routes: readonly AnyRoute[] = ROUTES): Hono<ApiHono> {
  const limits = createLimitReader(ports.table.tenants, ports.clock, defaultsFor(ports.config.openCalls))
  const counts = createResourceCounts({ ...ports, limits })
  const answers = answerPool(ports.config.maxResultBytesInFlight)
  const deps: ApiDeps = {
    ...ports,
    ...meterStorage(ports, counts, { isStrict: true }),
    counts,
    holds: holdsOf(ports, limits),
    arrivals: new RoundRobin(),
    documents: new KeptDocuments({ most: MAX_FILES, compresses: ports.config.openCalls === null }),
    bodies: requestPool(ports.config.maxRequestBytesInFlight),
    answers,
    results: new AnswerBudget(answers.lease('')),
    limits,
    audit: new AuditLog(ports, ports.config.auditFlushMs),
    requests: createRequestLimiter(ports.table.sharedRows, limits, {
      clock: ports.clock,
      processes: ports.config.openCalls === null ? 'fewProcesses' : 'manyProcesses',
    }),
    budget: createBudgetReader({ usage: ports.table.usage, limits, clock: ports.clock, prices: ports.prices }),
  }
  const hosts = wireHosts(ports.config)
  const app = new Hono<ApiHono>({ getPath: (request) => routedPath(request, ports.config, hosts) })
  app.use('*', wideEvent(deps))
  app.use('*', refuseInTurn(deps))
  app.use('*', securityHeaders)
  if (deps.config.allowedHosts !== null) app.use('*', trustedHosts(deps.config, deps.config.allowedHosts, hosts))
  app.use('*', refuseForeignOrigins(deps.config))
  if (deps.config.corsOrigins.length > 0) app.use('*', allowOrigins(deps.config.corsOrigins))
  const { page, implicitCaller } = deps
  const byKey =
    implicitCaller === undefined
      ? createAuthenticator({ tenants: deps.table.tenants, clock: deps.clock, verifyToken: tokenVerifier(deps) }, deps.config.keyCacheMs)
      : () => Promise.resolve(implicitCaller)
  const ended = new EndedSessions({ sharedRows: deps.table.sharedRows, clock: deps.clock })
  const authenticators = {
    byKey,
    bySession: page === undefined ? byKey : acceptSessions({ page, clock: deps.clock, ended, authenticate: byKey }),
  }
  for (const route of routes) mountRoute(app, { deps, authenticators }, route)
  for (const path of DOCUMENTS) app.use(path, takeTurn(deps))
  // Its nonce is new in each answer, so it is not kept. In AWS the distribution compresses.
  if (ports.config.openCalls === null) app.use('/docs', compress())
  mountDocs(app, deps)
  mountErrorPages(app)
  mountLlms(app, deps.config)
  if (page) mountGuide(app, { documents: deps.documents, readFile: page.readGuide ?? null })
  if (page !== undefined) mountPage(app, { ...deps, page, ended, authenticate: byKey })
  handleErrors(app)
  return app
}
