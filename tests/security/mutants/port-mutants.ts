import type { Mutant } from './mutant.ts'

const port = (protection: string, [file, find, replace]: readonly [string, string, string], test: string, only?: string): Mutant => ({
  protection: `ports: ${protection}`,
  edits: [{ file, find, replace }],
  killer: { test, ...(only !== undefined && { only }) },
})
const PROXY = 'services/http/port-proxy'
const ACCESS = `${PROXY}/port-access.ts`
const HEADERS = `${PROXY}/port-headers.ts`
const PUBLISHED = 'services/operations/containers/published-ports.ts'
const ON_ACCESS = 'tests/api/ports/access.test.ts'
const ON_FORWARD = 'tests/api/ports/forward.test.ts'
const ON_PUBLISH = 'tests/api/ports/publish.test.ts'

/** Every check between a visitor and a program in a sandbox. */
export const PORT_MUTANTS: readonly Mutant[] = [
  port('token of programs', [ACCESS, "isCredential(port, 'token', token) ? 'token' : null", "'token'"], ON_ACCESS),
  port(
    'cookie of browsers',
    [ACCESS, "cookiesOf(headers).some((value) => isCredential(port, 'cookie', value)) ? 'cookie' : null", "'cookie'"],
    ON_ACCESS,
  ),
  port('a cookie is no token', [PUBLISHED, 'credentialOf(published, kind)', "credentialOf(published, 'cookie')"], ON_ACCESS),
  port('deleted containers', [ACCESS, ' && container.deletedAt === null', ''], ON_ACCESS),
  port('time of a publication', [PUBLISHED, ' && found.expiresAt > now ? found : null', ' ? found : null'], ON_ACCESS),
  port(
    'secret of each publication',
    [PUBLISHED, "secret: randomBytes(SECRET_BYTES).toString('base64url'), publishedAt", 'secret: containerId, publishedAt'],
    ON_ACCESS,
  ),
  port('a link works once', [PUBLISHED, ': { values: { ...values, links }, result: true }', ': { values, result: true }'], ON_ACCESS),
  port('a link is for one port', [PUBLISHED, 'one.hash !== hash || one.place !== placeOf(place)', 'one.hash !== hash'], ON_ACCESS),
  port('where a link leads', [`${PROXY}/port-proxy.ts`, 'location: `${originOf(address)}${link.path}`', 'location: link.path'], ON_ACCESS),
  port('one Host header and a path', [`${PROXY}/port-proxy.ts`, 'checkForm(incoming)', ''], ON_ACCESS),
  port(
    'domain of ports',
    [`${PROXY}/port-proxy.ts`, 'host !== null && this.#options.domains.includes(host.domain) ? host : null', 'host'],
    ON_ACCESS,
  ),
  port('origin of pages', [ACCESS, 'new URL(origin).host === host', 'new URL(origin).host !== null'], ON_ACCESS),
  port('requests of other sites', [ACCESS, "(isNavigation || (site !== 'cross-site' && site !== 'same-site'))", 'true'], ON_ACCESS),
  port('pages that may frame a port', [`${PROXY}/port-proxy.ts`, "visit.opening === 'cookie' ? this.#policy : null", 'null'], ON_ACCESS),
  port('number of published ports', [PUBLISHED, 'known === undefined && Object.keys(live).length >= max', 'known === null'], ON_PUBLISH),
  port('port of the network', ['services/wires/native/ports/routes.ts', 'if (port === RESERVED_PORT)', 'if (port < 0)'], ON_PUBLISH),
  port('cookies of the server', [HEADERS, '.filter((pair) => !isOwnCookie(pair))', ''], ON_FORWARD),
  port(
    'tokens and keys of the server',
    [HEADERS, 'if (NOT_FORWARDED.test(name) || secrets.includes(name) || isKey) delete headers[name]', ''],
    ON_FORWARD,
  ),
  port('names of cookies', [HEADERS, 'if (isOwnCookie(cookie)) return null', ''], ON_FORWARD),
  port(
    'domain of cookies',
    [HEADERS, 'attributes.filter((attribute) => !/^\\s*domain\\s*(?:=|$)/i.test(attribute))', 'attributes'],
    ON_FORWARD,
  ),
  port('headers for other origins', [HEADERS, 'for (const name of NOT_ANSWERED) delete headers[name]', ''], ON_FORWARD),
  port('rest of a body', [`${PROXY}/port-exchange.ts`, 'if (!incoming.complete) outgoing.shouldKeepAlive = false', ''], ON_FORWARD),
  port(
    'end of a publication with open connections',
    [`${PROXY}/open-exchanges.ts`, 'exchange.end(notOpened())', 'void exchange'],
    ON_FORWARD,
  ),
  port('idle connections', [`${PROXY}/open-exchanges.ts`, 'if (now - open.movedAt > idleMs)', 'if (now < 0)'], ON_FORWARD),
  port('connections of a tenant', [`${PROXY}/port-slots.ts`, 'if (own >= max)', 'if (own < 0)'], 'tests/unit/api/port-slots.test.ts'),
  port('requests of a tenant', [`${PROXY}/port-proxy.ts`, 'await this.#checkRate(tenant)', ''], ON_FORWARD),
  port(
    'closed ports of E2B',
    ['services/wires/e2b/port-rule.ts', 'if (!session.hasClosedPorts) return true', 'if (session !== null) return true'],
    'tests/e2e/ports.test.ts',
    'getHost reaches an open sandbox',
  ),
  port(
    'links to other sockets of the sandbox',
    [
      'runtime-image/supervisor/cellblock_supervisor/network/ports.py',
      'if connection.getpeername() not in loopback.server_paths(port, self._folder):',
      'if False:',
    ],
    'tests/integration/supervisor/python-units.test.ts',
    'unit tests i to r',
  ),
]
