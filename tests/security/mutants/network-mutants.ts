import type { Mutant } from './mutant.ts'

const PROXY = 'services/workers/gateway/container-proxy.ts'

const gateway = (protection: string, file: string, find: string, replace: string): Mutant => ({
  protection: `gateway: ${protection}`,
  edits: [{ file: `services/${file}`, find, replace }],
  killer: { test: 'tests/unit/network/gateway.test.ts' },
})

const addresses = (protection: string, file: string, find: string, replace: string): Mutant => ({
  protection: `gateway: ${protection}`,
  edits: [{ file: `services/${file}`, find, replace }],
  killer: { test: 'tests/unit/network/gateway-addresses.test.ts' },
})

/** Of the gateway that reads its requests from the table. */
const requests = (protection: string, file: string, find: string, replace: string): Mutant => ({
  protection: `gateway in AWS: ${protection}`,
  edits: [{ file: `services/workers/gateway/${file}`, find, replace }],
  killer: { test: 'tests/unit/network/attachment-watch.test.ts' },
})

const bounds = (protection: string, file: string, find: string, replace: string): Mutant => ({
  protection: `gateway: ${protection}`,
  edits: [{ file: `services/workers/gateway/${file}`, find, replace }],
  killer: { test: 'tests/unit/network/gateway-bounds.test.ts' },
})

/** The search for a value has to find it where a protection is missing: otherwise it says nothing when it finds none. */
const searched = (protection: string, file: string, find: string, replace: string): Mutant => ({
  protection: `search for secrets: ${protection}`,
  edits: [{ file: `services/${file}`, find, replace }],
  killer: { test: 'tests/e2e/network.test.ts', only: 'the value of a secret is in no memory' },
})

/** Every check between user code and the internet. */
export const NETWORK_MUTANTS: readonly Mutant[] = [
  requests('a request that is gone', 'attachment-watch.ts', 'if (this.#isLatest(row, known)) gateway.attach', 'gateway.attach'),
  requests('sandbox of another container', 'attachment-watch.ts', ' || sandbox.claimedBy?.containerId !== containerId', ''),
  requests('rows that cannot be read', 'attachment-watch.ts', 'this.#parts.gateway.detach(containerId)\n      problem =', 'problem ='),
  requests('end of the lease', 'gateway-lease.ts', 'this.#until - MARGIN_MS', 'this.#until + MARGIN_MS'),
  gateway('host of a tunnel', 'workers/gateway/container-proxy.ts', 'if (refusal !== null) {', 'if (refusal === undefined) {'),
  {
    protection: 'gateway: policy of a request',
    edits: [
      { file: PROXY, find: 'if (!decision.allowed) return refuse(403, decision.reason)', replace: '' },
      // A request without a rule would throw and never be answered, which says nothing about the policy.
      { file: PROXY, find: 'exchange.start(decision.rule)', replace: 'exchange.start(decision.rule ?? { host: destination.host })' },
    ],
    killer: { test: 'tests/unit/network/gateway.test.ts' },
  },
  gateway('Host header', 'workers/gateway/container-proxy.ts', 'if (!namesHost(incoming, destination))', 'if (destination.host === null)'),
  gateway('one Host header', 'workers/gateway/container-proxy.ts', 'more.length === 0 && ', ''),
  gateway('port in the Host header', 'workers/gateway/container-proxy.ts', ' && named.port === port', ''),
  {
    protection: 'gateway: name in the TLS handshake',
    edits: [
      { file: PROXY, find: 'if (normalizeHost(name) !== tunnel.host) {', replace: 'if (name === null) {' },
      {
        file: PROXY,
        find: 'normalizeHost(String((secure as { readonly servername?: unknown }).servername)) !== tunnel.host',
        replace: 'secure.destroyed',
      },
    ],
    killer: { test: 'tests/unit/network/gateway.test.ts' },
  },
  gateway('requests per second', 'workers/gateway/tenant-budget.ts', 'if (this.#requests.has(rate)) {', 'if (rate > 0) {'),
  gateway(
    'connections',
    'workers/gateway/tenant-budget.ts',
    'if (this.#connections >= this.#limits.connections)',
    'if (this.#connections < 0)',
  ),
  // Without any wait nothing else of the process would run, and its memory would end the test.
  bounds('connections per second', 'gateway.ts', 'if (waitMs > 0) await delay(waitMs)', 'await delay(1)'),
  bounds('new certificates', 'container-proxy.ts', 'issuer.has(host) ? 0 : this.#budget.issued()', '0'),
  bounds('turns of tenants', 'turns.ts', 'const work = own.shift()', 'const work = () => own.splice(0).forEach((one) => one())'),
  bounds('requests that run', 'container-proxy.ts', 'if (full !== null) return refuse(503, full)', ''),
  bounds('requests without waiting for answers', 'container-proxy.ts', 'if (!this.#isInTurn(incoming, outgoing)) return', ''),
  bounds('a penalty for them', 'tenant-budget.ts', 'this.#openings.take(PENALTY,', 'this.#openings.take(0,'),
  {
    protection: 'gateway: time to search for secrets',
    edits: [{ file: 'services/workers/gateway/needles.ts', find: 'left-- > 0 && ', replace: '' }],
    killer: { test: 'tests/unit/network/redactor.test.ts' },
  },
  gateway('bytes', 'workers/gateway/container-proxy.ts', 'return this.#bytesLeft >= 0', 'return true'),
  gateway(
    'running requests after a change of the policy',
    'workers/gateway/container-proxy.ts',
    'if (!decision.allowed) exchange.abort(decision.reason)',
    '',
  ),
  gateway('addresses', 'operations/webhooks/safe-lookup.ts', 'addresses.every(', 'addresses.some('),
  gateway(
    'private addresses as hosts',
    'model/network/address.ts',
    'numberOf(address) !== null && !isInRange(NOT_PUBLIC, address)',
    'numberOf(address) !== null',
  ),
  addresses('denied addresses', 'model/network/policy.ts', 'if (isInRange(deny, host))', "if (host === '')"),
  addresses(
    'denied addresses of names',
    'operations/webhooks/safe-lookup.ts',
    'if (addresses.some(',
    'if (addresses.length === 0 && addresses.some(',
  ),
  addresses('certificates of addresses', 'workers/gateway/upstream.ts', 'checkServerIdentity(host, certificate)', 'undefined'),
  gateway('certificates of hosts', 'workers/gateway/upstream.ts', 'rejectUnauthorized: true', 'rejectUnauthorized: false'),
  gateway('hosts of a secret', 'workers/gateway/secrets.ts', 'hosts.some((pattern) => matchesHost(pattern, host))', 'hosts.length > 0'),
  gateway('secrets over HTTPS only', 'workers/gateway/exchange.ts', 'isSecure ? this.#context.secrets : []', 'this.#context.secrets'),
  gateway(
    'secrets in bodies of answers',
    'workers/gateway/exchange.ts',
    'this.#redactor.isActive ? this.#redactor.write(chunk) : chunk',
    'chunk',
  ),
  gateway('secrets in heads of answers', 'workers/gateway/exchange.ts', 'values.map((value) => this.#redactor.text(value))', 'values'),
  gateway(
    'secrets in Basic authentication',
    'workers/gateway/secrets.ts',
    'if (replaced.basic !== null) sensitive.push(replaced.basic)',
    '',
  ),
  gateway('secrets in parts of answers', 'workers/gateway/exchange.ts', "'range', 'if-range', ", ''),
  gateway('secrets in compressed answers', 'workers/gateway/exchange.ts', "encoding !== 'identity'", 'encoding === null'),
  searched(
    'answers without a mask',
    'workers/gateway/exchange.ts',
    'this.#redactor.isActive ? this.#redactor.write(chunk) : chunk',
    'chunk',
  ),
  searched(
    'rows with the value',
    'adapters/secrets/key-file-cipher.ts',
    "context).toString('base64url')}`",
    "context).toString('base64url')}.${value}`",
  ),
  gateway('a method in a header', 'workers/gateway/exchange.ts', 'if (rule.methods !== undefined) for', 'if (rule.methods === null) for'),
]
