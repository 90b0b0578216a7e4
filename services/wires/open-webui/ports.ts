import { LINK_PARAMETER, MAX_PORT, portOrigin } from '../../model/containers/container-label.ts'
import { ServiceError } from '../../model/errors.ts'
import { json } from '../../http/responses.ts'
import type { AnyRoute, Call } from '../../http/route.ts'
import { terminalRoute } from './routing.ts'
import { findTerminal } from './terminal.ts'

/** How long a port stays published that the page opens, seconds. */
const DAY_SECONDS = 86_400

/** The page asks every five seconds, so no command runs for it. */
async function list(call: Call): Promise<Response> {
  const terminal = await findTerminal(call, 'read')
  const ports = terminal === null ? [] : ((await call.deps.webPorts?.listening(terminal.container)) ?? [])
  return json(200, { ports: ports.map((port) => ({ port, pid: null, process: null })) })
}

/**
 * Leads to the origin of the port, by a link that opens it once: a program of the sandbox must not answer on the origin of Open WebUI, whose proxy passes the
 * redirect on to the browser.
 */
async function open(call: Call): Promise<Response> {
  const { deps, caller, request, publicUrl } = call
  const terminal = await findTerminal(call, 'run')
  if (terminal === null) throw new ServiceError('container_not_found', 'This user has no terminal yet.')
  const { webPorts } = deps
  if (webPorts === undefined)
    throw new ServiceError(
      'not_offered',
      'This deployment cannot publish ports of sandboxes: that needs a server on one machine (docs/ports.md).',
    )
  const port = Number(call.param('port'))
  if (!Number.isInteger(port) || port < 1 || port > MAX_PORT)
    throw new ServiceError('not_found', 'The port must be a number from 1 to 65535.')
  const { container } = terminal
  const { link } = await webPorts.published.publish({ tenant: caller.tenant, containerId: container.id, port }, DAY_SECONDS)
  const { pathname, search } = new URL(request.url)
  const path = pathname.slice(pathname.indexOf('/proxy/') + `/proxy/${call.param('port')}`.length)
  const origin = portOrigin({ container, port }, webPorts.domain, publicUrl)
  const location = `${origin}${path || '/'}${search === '' ? '?' : `${search}&`}${LINK_PARAMETER}=${link}`
  return new Response(null, { status: 303, headers: { location, 'referrer-policy': 'no-referrer', 'cache-control': 'no-store' } })
}

const proxied = { method: 'get', scope: 'run', handle: open } as const

export const portRoutes: readonly AnyRoute[] = [
  terminalRoute({ method: 'get', path: '/ports', scope: 'read', handle: list }),
  terminalRoute({ ...proxied, path: '/proxy/{port}' }),
  terminalRoute({ ...proxied, path: '/proxy/{port}/' }),
  terminalRoute({ ...proxied, path: '/proxy/{port}/{+path}' }),
]
