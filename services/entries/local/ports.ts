import type { ApiConfig } from '../../http/config.ts'
import type { ApiDeps } from '../../http/deps.ts'
import { PortProxy, supervisorSessionOf } from '../../http/port-proxy/port-proxy.ts'
import { hostNameOf } from '../../http/public-url.ts'
import { BoundedCache } from '../../model/bounded-cache.ts'
import { isSuspended, type Container } from '../../model/containers/container.ts'
import { PublishedPorts } from '../../operations/containers/published-ports.ts'
import { ServiceError } from '../../model/errors.ts'
import { resumeContainer } from '../../operations/containers/suspend-container.ts'
import { createBudgetReader } from '../../operations/tenancy/budget.ts'
import { createLimitReader } from '../../operations/tenancy/limit-reader.ts'
import { createRequestLimiter } from '../../operations/tenancy/request-limiter.ts'
import { createResourceCounts } from '../../operations/tenancy/resource-counts.ts'
import { PORT_RULES } from '../../wires/one-machine.ts'
import { wireHosts } from '../../wires/routes.ts'
import type { SandboxDriver } from '../../ports/sandbox-driver.ts'
import type { Supervisor } from '../../ports/supervisor.ts'
import type { LocalConfig } from './config.ts'
import type { LocalSandboxes } from './sandboxes.ts'

/** Visitors keep a container awake with one write in this time, milliseconds. */
const TOUCH_MS = 20_000
const MAX_CONTAINERS = 10_000

type CommonPorts = Pick<ApiDeps, 'table' | 'queue' | 'objects' | 'clock' | 'telemetry'>

type PortsConfig = Pick<LocalConfig, 'portsDomain' | 'publicUrl' | 'allowedHosts' | 'hibernateAfterMs'>

interface PortParts {
  readonly common: CommonPorts
  readonly sandboxes: Pick<LocalSandboxes, 'prices'> & {
    readonly supervisor: Pick<Supervisor, 'connectPort' | 'listPorts'>
    readonly driver: Pick<SandboxDriver, 'suspension'>
  }
  readonly api: ApiConfig
  /** A connection without any byte ends after this time, milliseconds; five minutes except in tests. */
  readonly idleMs?: number
}

export interface LocalPorts {
  readonly proxy: PortProxy
  /** For the API. */
  readonly webPorts: NonNullable<ApiDeps['webPorts']>
}

/** Ports of sandboxes on separate origins; null when the operator has no domain for them. */
export function openPorts(config: PortsConfig, { common, sandboxes, api, idleMs }: PortParts): LocalPorts | null {
  const { portsDomain: domain, publicUrl } = config
  if (domain === null) return null
  const { table, clock, objects } = common
  const limits = createLimitReader(table.tenants, clock)
  const published = new PublishedPorts({ table, limits, clock })
  const counts = createResourceCounts({ table, objects, limits, clock })
  const suspend = { ...common, counts, canSuspend: sandboxes.driver.suspension !== undefined }
  const ofRules = PORT_RULES.flatMap(({ domainOf }) => domainOf(api) ?? [])
  const proxy = new PortProxy({
    api: { table, clock, config: api },
    published,
    supervisor: sandboxes.supervisor,
    limits,
    requests: createRequestLimiter(table.sharedRows, limits, { clock }),
    telemetry: common.telemetry,
    rules: PORT_RULES,
    wireHosts: wireHosts(api),
    domains: [domain, ...ofRules].map(hostNameOf),
    isHttps: publicUrl?.startsWith('https:') === true,
    pages: pagesOf(config),
    keepAwake: keepAwake(config, { common, sandboxes }),
    ...(idleMs !== undefined && { idleMs }),
    wake: async (container, signal) => void (await resumeContainer(suspend, container, signal)),
  })
  const listening = async (container: Container): Promise<readonly number[]> => {
    const session = isSuspended(container) ? null : await supervisorSessionOf(table, container)
    if (session === null) return []
    return sandboxes.supervisor.listPorts(session).catch((cause: unknown) => {
      throw new ServiceError('sandbox_unavailable', 'The sandbox does not say which ports are open. Try again in a moment.', { cause })
    })
  }
  return { proxy, webPorts: { domain, published, listening } }
}

/** Origins of all ports, as a policy of the page has them. The port of the server is not known before it listens. */
export const portOrigins = ({ portsDomain, publicUrl }: Pick<LocalConfig, 'portsDomain' | 'publicUrl'>): readonly string[] =>
  portsDomain === null ? [] : [portOrigin(portsDomain, publicUrl)]

const portOrigin = (domain: string, publicUrl: string | null): string => {
  const scheme = publicUrl?.startsWith('https:') === true ? 'https' : 'http'
  return `${scheme}://*.${domain.includes(':') || scheme === 'https' ? domain : `${domain}:*`}`
}

/** Origins of the server's own page. */
const pagesOf = ({ publicUrl, allowedHosts }: PortsConfig): readonly string[] =>
  publicUrl === null
    ? allowedHosts.filter((name) => !name.startsWith('[')).map((name) => `http://${name.replace(/:\d+$/, '')}:*`)
    : [new URL(publicUrl).origin]

/** Counts the use by visitors as a use of the container, while its account has a budget for it. */
function keepAwake(
  { hibernateAfterMs }: PortsConfig,
  { common: { table, clock }, sandboxes }: Pick<PortParts, 'common' | 'sandboxes'>,
): (container: Container) => Promise<void> {
  const limits = createLimitReader(table.tenants, clock)
  const budget = createBudgetReader({ usage: table.usage, limits, clock, prices: sandboxes.prices })
  const touched = new BoundedCache<string, true>(MAX_CONTAINERS)
  return async ({ tenant, id }) => {
    const now = clock.now()
    if (touched.get(id, now) !== undefined) return
    touched.set(id, true, now + Math.min(TOUCH_MS, hibernateAfterMs / 4))
    await budget.checkRun(tenant)
    await table.containers.touch(tenant, id, now)
  }
}
