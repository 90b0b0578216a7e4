import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isInRange, normalizeRange } from '../../../services/model/network/address.ts'
import { coversHost, matchesHost, normalizeHost, normalizeHostPattern, normalizeTarget } from '../../../services/model/network/host.ts'
import { isAmbiguousPath, matchesPath } from '../../../services/model/network/path-pattern.ts'
import {
  allowsEverything,
  decideRequest,
  expandPolicy,
  hostsOutside,
  NO_NETWORK,
  type NetworkPolicy,
} from '../../../services/model/network/policy.ts'
import { METHODS, type NetworkRule } from '../../../services/model/network/rule.ts'
import { NetworkCeilingSchema, NetworkPolicySchema, POLICY_BOUNDS } from '../../../services/model/network/policy-schema.ts'
import { PRESET_NAMES, PRESETS } from '../../../services/model/network/presets.ts'

const EVERYTHING: NetworkPolicy = { allow: [{ host: '*' }], presets: [] }
const get = (url: string, method = 'GET') => {
  const { hostname, pathname, protocol, port } = new URL(url)
  return { host: hostname, port: port === '' ? (protocol === 'https:' ? 443 : 80) : Number(port), method, path: pathname }
}
const decide = (policy: NetworkPolicy, request: ReturnType<typeof get>, ceiling: NetworkPolicy = EVERYTHING) =>
  decideRequest({ rules: expandPolicy(policy), ceiling: expandPolicy(ceiling), deny: policy.deny ?? [] }, request)
const allow = (...rules: readonly NetworkRule[]): NetworkPolicy => ({ allow: rules, presets: [] })

const label = fc.constantFrom('a', 'b', 'api', 'xn--bcher-kva')
const host = fc.array(label, { minLength: 1, maxLength: 3 }).map((labels) => [...labels, 'test'].join('.'))
const pattern = fc.oneof(
  host,
  host.map((name) => `*.${name}`),
  fc.constant('*'),
)
const path = fc.array(fc.constantFrom('', 'v1', 'v2', 'a.b', '..', '%2e'), { maxLength: 4 }).map((parts) => `/${parts.join('/')}`)
const paths = fc.array(fc.constantFrom('/**', '/v1/**', '/*/v2', '/v1'), { minLength: 1, maxLength: 2 })
const rule = fc.record(
  { host: fc.oneof(pattern, fc.constant('8.8.8.8')), methods: fc.uniqueArray(fc.constantFrom(...METHODS), { minLength: 1 }), paths },
  { requiredKeys: ['host'] },
)
const policy = fc.record({
  allow: fc.array(rule, { maxLength: 3 }),
  presets: fc.uniqueArray(fc.constantFrom(...PRESET_NAMES), { maxLength: 1 }),
})
const request = fc.record({
  host: fc.oneof(host, fc.constant('8.8.8.8')),
  port: fc.constantFrom(80, 443, 25, 8443),
  method: fc.constantFrom(...METHODS, 'TRACE'),
  path,
})

describe('hosts', () => {
  it.each([
    ['PyPI.org', 'pypi.org'],
    ['pypi.org.', 'pypi.org'],
    ['Bücher.example', 'xn--bcher-kva.example'],
    ['my_host.example.com', 'my_host.example.com'],
  ])('%s becomes %s', (given, normal) => expect(normalizeHost(given)).toBe(normal))

  it.each([
    '127.0.0.1',
    '0x7f.1',
    '2130706433',
    '[::1]',
    '::ffff:10.0.0.1',
    'localhost',
    '',
    '.',
    'a..b.com',
    'pypi.org:443',
    'user@pypi.org',
    'pypi.org/x',
    'pypi%2eorg',
    'pypi.org#.evil.com',
    '169.254.169.254',
    '1.2.3.4.5',
    `${'a'.repeat(64)}.com`,
    `${'a.'.repeat(127)}com`,
  ])('%j is no host', (given) => expect(normalizeHost(given)).toBeNull())

  it.each(['8.8.8.8', '1.1.1.1'])('%s is an address that a rule can name', (address) => {
    expect([normalizeTarget(address), normalizeHostPattern(address)]).toEqual([address, address])
    expect([matchesHost('*', address), matchesHost('*.test', address), coversHost('*', address)]).toEqual([true, false, true])
  })

  it.each([
    '10.0.0.1',
    '169.254.169.254',
    '100.64.0.1',
    '0.0.0.0',
    '08.8.8.8',
    '8.8.2056',
    '134744072',
    '0x8080808',
    '8.8.8.8.',
    '[2001:4860::8888]',
    '8.8.8.8/32',
  ])('%s is none', (address) => expect([normalizeTarget(address), normalizeHostPattern(address)]).toEqual([null, null]))

  it.each([
    ['8.8.8.8/32', '8.8.8.8'],
    ['8.8.8.8', '8.8.8.8'],
    ['8.8.0.0/16', '8.8.0.0/16'],
    ['10.0.0.0/8', '10.0.0.0/8'],
    ['8.8.8.8/33', null],
    ['8.8.8/24', null],
    ['::/0', null],
    ['a.test', null],
  ])('the range %s is %s', (given, normal) => expect(normalizeRange(given)).toBe(normal))

  it.each([
    ['8.8.8.8', true],
    ['8.9.0.0', false],
    ['8.8.255.255', true],
    ['1.1.1.1', true],
    ['1.1.1.2', false],
    ['2001:4860::8888', false],
    ['a.test', false],
  ])('8.8.0.0/16 has %s: %s', (address, has) => expect(isInRange(['1.1.1.1', '8.8.0.0/16'], address)).toBe(has))

  it('a wildcard matches names below its name only', () => {
    expect(matchesHost('*.example.com', 'a.b.example.com')).toBe(true)
    expect(matchesHost('*.example.com', 'example.com')).toBe(false)
    expect(matchesHost('*.example.com', 'evilexample.com')).toBe(false)
    expect(normalizeHostPattern('*.com')).toBeNull()
    expect(normalizeHostPattern('a.*.com')).toBeNull()
  })

  it('a pattern covers another one exactly when it matches all of its hosts', () => {
    fc.assert(
      fc.property(pattern, pattern, host, (outer, inner, name) => {
        if (coversHost(outer, inner) && matchesHost(inner, name)) expect(matchesHost(outer, name)).toBe(true)
      }),
    )
  })
})

describe('paths', () => {
  it.each([
    ['/v1/**', '/v1', true],
    ['/v1/**', '/v1/a/b', true],
    ['/v1/**', '/v12', false],
    ['/v1/*', '/v1/a', true],
    ['/v1/*', '/v1/a/b', false],
    ['/**/git-upload-pack', '/group/sub/repo.git/git-upload-pack', true],
    ['/**/git-upload-pack', '/group/repo.git/git-receive-pack', false],
    ['/a*c/d', '/abbc/d', true],
    ['/a*c/d', '/ab/c/d', false],
    ['/**', '/', true],
    ['/a/**/b/**/c', '/a/b/x/b/c', true],
    ['/a/**/b/**/c', '/a/x/c', false],
  ])('%s matches %s: %s', (given, path, matches) => expect(matchesPath(given, path)).toBe(matches))

  it.each([
    '/v1/../admin',
    '/v1/%2e%2e/admin',
    '/v1/.%2E/admin',
    '/v1/%252e%252e/x',
    '/v1//admin',
    '/v1/..;x/admin',
    '/v1\\..\\x',
    '/v1/%2fadmin',
    '/v1/%00',
    '/v1/%',
    'v1',
    '/v1/é',
  ])('a rule with paths refuses %s', (path) => {
    expect(isAmbiguousPath(path)).toBe(true)
    const decision = decide(allow({ host: 'api.test', paths: ['/**'] }), { ...get('https://api.test/'), path })
    expect(decision).toMatchObject({ allowed: false, by: 'path' })
  })

  it('a hostile pattern takes milliseconds', () => {
    const hostile = `/${'a*'.repeat(120)}b`
    const start = performance.now()
    expect(matchesPath(hostile, `/${'a'.repeat(16_000)}`)).toBe(false)
    expect(performance.now() - start).toBeLessThan(1_000)
  })
})

describe('decisions', () => {
  it('the empty policy allows nothing', () => {
    fc.assert(
      fc.property(request, (one) => {
        expect(decide(NO_NETWORK, one).allowed).toBe(false)
      }),
    )
  })

  it('an allowed request is allowed by the policy and by the ceiling, for HTTP and HTTPS only', () => {
    fc.assert(
      fc.property(policy, policy, request, (given, ceiling, one) => {
        const decision = decide(given, one, ceiling)
        const both = decide(given, one).allowed && decide(ceiling, one).allowed
        expect(decision.allowed).toBe(both)
        if (decision.allowed) {
          expect(matchesHost(decision.rule.host, one.host)).toBe(true)
          expect([80, 443]).toContain(one.port)
        } else expect(decision.reason).toMatch(/^[\x20-\x7e]{10,2000}$/)
      }),
      { numRuns: 2_000 },
    )
  })

  it('a policy inside the ceiling reaches no host outside it', () => {
    fc.assert(
      fc.property(policy, policy, request, (given, ceiling, one) => {
        if (hostsOutside(given, ceiling).length > 0 || !decide(given, one).allowed) return
        expect(decide(allow(...expandPolicy(ceiling).map(({ host }) => ({ host }))), one).allowed).toBe(true)
      }),
    )
  })

  it('names the part that refused', () => {
    const given = allow({ host: 'api.test', methods: ['GET'], paths: ['/v1/**'], inject: [{ header: 'authorization', secret: 'KEY' }] })
    expect(decide(given, get('https://api.test/v1/x'))).toMatchObject({ allowed: true })
    expect(decide(given, get('https://api.test/v1/x', 'HEAD'))).toMatchObject({ allowed: true })
    expect(decide(given, get('http://api.test/v1/x'))).toMatchObject({ by: 'secret' })
    expect(decide(given, get('https://api.test:8443/v1/x'))).toMatchObject({ by: 'port' })
    expect(decide(given, get('https://api.test/v2'))).toMatchObject({ by: 'path' })
    expect(decide(given, get('https://api.test/v1/x', 'POST'))).toMatchObject({ by: 'method' })
    expect(decide(given, get('https://other.test/'))).toMatchObject({
      by: 'host',
      reason: expect.stringContaining('It may reach: api.test.'),
    })
    expect(decide(given, get('https://api.test/v1/x'), NO_NETWORK)).toMatchObject({ by: 'ceiling' })
    expect(decide(EVERYTHING, { ...get('https://api.test/'), host: '169.254.169.254' })).toMatchObject({ by: 'address' })
    expect(decide(EVERYTHING, get('https://8.8.8.8/')).allowed).toBe(true)
    expect(decide({ ...EVERYTHING, deny: ['8.8.0.0/16'] }, get('https://8.8.8.8/'))).toMatchObject({ by: 'address' })
  })
})

describe('presets', () => {
  it.each(PRESET_NAMES)('%s passes its own schema and names its date and reason', (name) => {
    const { rules, checked, reason } = PRESETS[name]
    expect(NetworkPolicySchema().parse({ allow: rules }).allow).toEqual(rules)
    expect(checked).toMatch(/^\d{4}-\d\d-\d\d$/)
    expect(reason).toMatch(/\.$/)
  })

  it.each([
    ['pypi', 'https://pypi.org/simple/requests/', 'GET', true],
    ['pypi', 'https://upload.pypi.org/legacy/', 'POST', false],
    ['pypi', 'https://pypi.org/legacy/', 'POST', false],
    ['npm', 'https://registry.npmjs.org/left-pad', 'GET', true],
    ['npm', 'https://registry.npmjs.org/left-pad', 'PUT', false],
    ['git', 'https://gitlab.com/group/sub/repo.git/info/refs', 'GET', true],
    ['git', 'https://gitlab.com/group/sub/repo.git/git-upload-pack', 'POST', true],
    ['git', 'https://gitlab.com/group/sub/repo.git/git-receive-pack', 'POST', false],
    ['github-read', 'https://api.github.com/gists', 'POST', false],
  ] as const)('%s: %s %s is allowed: %s', (preset, url, method, allowed) =>
    expect(decide({ allow: [], presets: [preset] }, get(url, method)).allowed).toBe(allowed),
  )
})

describe('schema', () => {
  const problem = (value: unknown): string => NetworkPolicySchema().safeParse(value).error?.issues[0]?.message ?? ''

  it('normalises hosts and headers', () => {
    const given = { allow: [{ host: 'API.Example.com.', inject: [{ header: 'Authorization', secret: 'KEY', prefix: 'Bearer ' }] }] }
    expect(NetworkPolicySchema().parse(given)).toEqual({
      allow: [{ host: 'api.example.com', inject: [{ header: 'authorization', secret: 'KEY', prefix: 'Bearer ' }] }],
      presets: [],
    })
  })

  it.each([
    ['a private address', { allow: [{ host: '10.0.0.1' }] }, 'is not a host name'],
    ['a relative path', { allow: [{ host: 'a.test', paths: ['v1'] }] }, "begins with '/'"],
    ['a path with a query', { allow: [{ host: 'a.test', paths: ['/v1?x'] }] }, "begins with '/'"],
    ['a header of the connection', { allow: [{ host: 'a.test', inject: [{ header: 'Host', secret: 'KEY' }] }] }, 'cannot be set'],
    ['a secret that is no variable', { allow: [{ host: 'a.test', inject: [{ header: 'x', secret: 'a b' }] }] }, 'give a name of'],
    ['an unknown method', { allow: [{ host: 'a.test', methods: ['CONNECT'] }] }, 'Invalid option'],
    ['101 rules', { allow: Array.from({ length: POLICY_BOUNDS.rules + 1 }, () => ({ host: 'a.test' })) }, 'at most 100 entries'],
    ['an unknown preset', { presets: ['everything'] }, 'Invalid option'],
    ['no bytes', { bytes: 0 }, '>=1'],
    ['an unknown field', { forbid: [] }, 'Unrecognized key'],
    ['a name that is denied', { deny: ['a.test'] }, 'give an IPv4 address'],
    ['an impossible range', { deny: ['8.8.8.0/33'] }, 'give an IPv4 address'],
    ['101 denied ranges', { deny: Array.from({ length: POLICY_BOUNDS.denied + 1 }, () => '8.8.8.8') }, 'at most 100 entries'],
    [
      'more than 16 KiB',
      { allow: Array.from({ length: 100 }, (_, n) => ({ host: `${`${'h'.repeat(60)}.`.repeat(3)}n${n}.test` })) },
      'at most 16 KiB',
    ],
  ])('refuses %s', (_, value, message) => expect(problem(value)).toContain(message))

  it('a ceiling injects nothing', () => {
    expect(NetworkCeilingSchema().safeParse({ allow: [{ host: 'a.test', inject: [{ header: 'x', secret: 'KEY' }] }] }).success).toBe(false)
    expect(allowsEverything(NetworkCeilingSchema().parse({ allow: [{ host: '*' }] }))).toBe(true)
    expect(allowsEverything(NetworkCeilingSchema().parse({ allow: [{ host: '*', methods: ['GET'] }] }))).toBe(false)
  })
})
