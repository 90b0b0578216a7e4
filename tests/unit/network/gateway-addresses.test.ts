import { afterAll, beforeAll, expect, it } from 'vitest'
import { startAddressMirror, type Mirror } from '../../support/mirror.ts'
import { parseAnswer, readAll, startProxy, type TestProxy } from '../../support/start-proxy.ts'

const ONE = '93.184.215.14'
const OTHER = '8.8.8.8'
const NAME = 'named.example.com'

let one: Mirror
let reached: string[] = []
beforeAll(async () => {
  one = await startAddressMirror(ONE, (request, response) => {
    reached.push(String(request.headers.host))
    response.end('reached')
  })
})
afterAll(() => one[Symbol.asyncDispose]())

type Attachment = Parameters<typeof startProxy>[0]
const privateHosts = () => ({ [ONE]: { address: '127.0.0.1', port: one.port } })
async function withProxy(attachment: Attachment, work: (proxy: TestProxy) => Promise<void>): Promise<void> {
  reached = []
  await using proxy = await startProxy(attachment, { privateHosts: privateHosts() })
  await work(proxy)
}

it.each([
  ['names it', [{ host: ONE }]],
  ['allows every host', [{ host: '*' }]],
])('a policy that %s reaches a public address over HTTPS', (_what, rules) =>
  withProxy({ rules }, async (proxy) => {
    const secure = await proxy.tunnel(`${ONE}:443`)
    expect(secure.getPeerCertificate().subjectaltname).toBe(`IP Address:${ONE}`)
    secure.write(`GET / HTTP/1.1\r\nHost: ${ONE}\r\nConnection: close\r\n\r\n`)
    expect(parseAnswer(await readAll(secure))).toMatchObject({ status: 200, body: 'reached' })
    expect(reached).toEqual([ONE])
    await expect.poll(() => proxy.reports).toMatchObject([{ host: ONE, decision: 'allowed', status: 200 }])
  }),
)

it.each([
  ['is not named', { rules: [{ host: OTHER }] }, /403 This container may not reach 93/],
  ['is outside the ceiling', { rules: [{ host: ONE }], ceiling: [{ host: '*.example.com' }] }, /403 The operator/],
  ['is denied', { rules: [{ host: '*' }], deny: [ONE] }, /403 The network policy of this container forbids 93/],
  ['is in a denied range', { rules: [{ host: ONE }], deny: ['93.184.0.0/16'] }, /403 The network policy of this container forbids 93/],
] satisfies readonly (readonly [string, Attachment, RegExp])[])(
  'a public address that %s is refused at once',
  (_what, attachment, reason) =>
    withProxy(attachment, async (proxy) => {
      await expect(proxy.tunnel(`${ONE}:443`)).rejects.toThrow(reason)
      expect(reached).toEqual([])
    }),
)

it('refuses a name in the TLS handshake of a tunnel to an address, and the Host of another destination', () =>
  withProxy({ rules: [{ host: '*' }] }, async (proxy) => {
    expect(await proxy.tunnel(`${ONE}:443`, NAME).then(readAll, () => 'refused')).toMatch(/^(?:refused)?$/)
    expect(await proxy.fetch(ONE, { headers: [`Host: ${NAME}`] })).toMatchObject({ status: 403 })
    expect(reached).toEqual([])
  }))

it('refuses a host whose certificate is not for the address', async () => {
  await using proxy = await startProxy({ rules: [{ host: '*' }] }, { privateHosts: { [OTHER]: { address: '127.0.0.1', port: one.port } } })
  expect(await proxy.fetch(OTHER)).toMatchObject({
    status: 502,
    phrase: expect.stringContaining(`The certificate of ${OTHER} is not valid`) as string,
  })
})

it('refuses a name of which one address is denied, and resolves it once', async () => {
  let asked = 0
  await using proxy = await startProxy(
    { rules: [{ host: NAME }], deny: ['8.8.0.0/16'] },
    {
      resolve: (_name, _options, callback) => {
        asked += 1
        callback(
          null,
          [ONE, OTHER].map((address) => ({ address, family: 4 })),
        )
      },
    },
  )
  expect(await proxy.fetch(NAME)).toMatchObject({
    status: 403,
    body: `The network policy of this container forbids the address of ${NAME}.\n`,
  })
  expect(asked).toBe(1)
})
