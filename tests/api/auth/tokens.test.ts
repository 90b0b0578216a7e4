import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { exportJWK, exportSPKI, generateKeyPair, SignJWT, UnsecuredJWT, type JWTPayload, type GenerateKeyPairResult } from 'jose'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { startApi, type TestApi } from '../../support/start-api.ts'

const ISSUER = 'https://login.example'
let api: TestApi
let jwks: Server
let isDown = false
let tenant = ''
const keys = new Map<string, GenerateKeyPairResult>()

const addKey = async (kid: string): Promise<void> => void keys.set(kid, await generateKeyPair('RS256', { extractable: true }))
beforeAll(async () => {
  await addKey('first')
  jwks = createServer((_, response) => {
    if (isDown) return void response.writeHead(500).end()
    void Promise.all([...keys].map(async ([kid, { publicKey }]) => ({ ...(await exportJWK(publicKey)), kid, alg: 'RS256' }))).then((list) =>
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ keys: list })),
    )
  })
  await new Promise<void>((resolve) => jwks.listen(0, '127.0.0.1', resolve))
  const { port } = jwks.address() as AddressInfo
  const common = { jwksUrl: `http://127.0.0.1:${port}/jwks`, audience: 'cellblock' }
  const tokenIssuers = [
    { issuer: ISSUER, ...common },
    { issuer: 'https://service.example', ...common, subjectClaim: 'end_user' },
    { issuer: 'https://operators.example', ...common, subjectClaim: null, mayAdminister: true },
  ].map((issuer) => ({ tenant: null, tenantClaim: 'tenant', subjectClaim: 'sub', scopesClaim: 'scope', mayAdminister: false, ...issuer }))
  api = await startApi({ config: { tokenIssuers } })
  tenant = api.owner.tenant
  await api.table.tenants.create({ v: 1, id: tenant, name: 'tokens', createdAt: 1 })
})
afterAll(async () => {
  jwks.close()
  await api.stop()
})

interface TokenOptions {
  readonly kid?: string
  readonly claims?: JWTPayload
  readonly expiresIn?: number
}
function token({ kid = 'first', claims = {}, expiresIn = 600 }: TokenOptions = {}): Promise<string> {
  const now = Math.floor(api.now() / 1000)
  const payload = { iss: ISSUER, aud: 'cellblock', sub: 'ann', tenant, scope: 'run read', iat: now, exp: now + expiresIn, ...claims }
  return new SignJWT(payload).setProtectedHeader({ alg: 'RS256', kid }).sign((keys.get(kid) as GenerateKeyPairResult).privateKey)
}
const call = (bearer: string, path = '/v1/models', init: RequestInit = {}) =>
  fetch(`${api.url}${path}`, { ...init, headers: { authorization: `Bearer ${bearer}`, 'content-type': 'application/json' } })
const statusOf = async (bearer: string, path?: string) => (await call(bearer, path)).status

it('accepts a token where an API key works, bound to its tenant and subject', async () => {
  const bearer = await token()
  const created = await call(bearer, '/v1/containers', { method: 'POST', body: JSON.stringify({ name: 'mine' }) })
  expect(created.status).toBe(200)
  const { id } = (await created.json()) as { id: string }
  expect(await api.table.containers.get(tenant, id)).toMatchObject({ subject: 'ann' })
  expect(await statusOf(bearer, `/v1/containers/${id}`)).toBe(200)
  expect(await statusOf(await token({ claims: { sub: 'bob' } }), `/v1/containers/${id}`)).toBe(404)
  expect((await api.fetch(`/v1/containers/${id}`)).status).toBe(200)
})

it('attaches the retry of one end user to no call of another, although their tokens have the same "sub"', async () => {
  const create = async (user: string) => {
    const bearer = await token({ claims: { iss: 'https://service.example', sub: 'backend', end_user: user } })
    const headers = { authorization: `Bearer ${bearer}`, 'content-type': 'application/json', 'x-stainless-retry-count': '1' }
    const answer = await fetch(`${api.url}/v1/containers`, { method: 'POST', headers, body: JSON.stringify({ name: 'same' }) })
    return ((await answer.json()) as { id: string }).id
  }
  const first = await create('ann')
  expect(await create('ann')).toBe(first)
  expect(await create('bob')).not.toBe(first)
})

it('grants the scopes of the token and no others', async () => {
  expect(await statusOf(await token({ claims: { scope: 'files' } }))).toBe(403)
  expect(await statusOf(await token({ claims: { scope: ['read'] } }))).toBe(200)
  expect(await statusOf(await token({ claims: { scope: 'read admin' } }), '/v1/admin/tenants')).toBe(403)
  const operator = await token({ claims: { iss: 'https://operators.example', scope: 'admin' } })
  expect(await statusOf(operator, '/v1/admin/tenants')).toBe(200)
})

it.for<readonly [string, TokenOptions]>([
  ['expired', { expiresIn: -60 }],
  ['for another audience', { claims: { aud: 'other' } }],
  ['of an unknown issuer', { claims: { iss: 'https://evil.example' } }],
  ['not valid yet', { claims: { nbf: 99_999_999_999 } }],
  ['without an expiry', { claims: { exp: undefined } as unknown as JWTPayload }],
  ['of a tenant that does not exist', { claims: { tenant: 'tnt_none' } }],
  ['without a tenant', { claims: { tenant: undefined } }],
  ['without a subject', { claims: { sub: undefined } as unknown as JWTPayload }],
])('refuses a token that is %s', async ([, options]) => {
  expect(await statusOf(await token(options))).toBe(401)
})

it('refuses a changed payload', async () => {
  const [header = '', payload = '', signature = ''] = (await token()).split('.')
  const claims = JSON.parse(Buffer.from(payload, 'base64url').toString()) as JWTPayload
  const changed = Buffer.from(JSON.stringify({ ...claims, tenant: api.otherTenant.tenant })).toString('base64url')
  expect(await statusOf(`${header}.${changed}.${signature}`)).toBe(401)
})

it('refuses confused algorithms: none, and HMAC with the public key', async () => {
  const claims = { iss: ISSUER, aud: 'cellblock', sub: 'ann', tenant, scope: 'read', exp: Math.floor(api.now() / 1000) + 600 }
  expect(await statusOf(new UnsecuredJWT(claims).encode())).toBe(401)
  const pem = new TextEncoder().encode(await exportSPKI((keys.get('first') as GenerateKeyPairResult).publicKey))
  expect(await statusOf(await new SignJWT(claims).setProtectedHeader({ alg: 'HS256', kid: 'first' }).sign(pem))).toBe(401)
})

it('follows a rotation of keys and refuses a removed key', async () => {
  expect(await statusOf(await token())).toBe(200)
  await addKey('second')
  await expect.poll(async () => statusOf(await token({ kid: 'second' })), { timeout: 8_000 }).toBe(200)
  const old = keys.get('first') as GenerateKeyPairResult
  keys.delete('first')
  await addKey('third')
  await expect.poll(async () => statusOf(await token({ kid: 'third' })), { timeout: 8_000 }).toBe(200)
  const now = Math.floor(api.now() / 1000)
  const claims = { iss: ISSUER, aud: 'cellblock', sub: 'ann', tenant, scope: 'read', exp: now + 601 }
  expect(await statusOf(await new SignJWT(claims).setProtectedHeader({ alg: 'RS256', kid: 'first' }).sign(old.privateKey))).toBe(401)
})

it('answers 503 while the keys of the issuer cannot be read', async () => {
  isDown = true
  await addKey('fourth')
  await expect.poll(async () => statusOf(await token({ kid: 'fourth' })), { timeout: 8_000 }).toBe(503)
  isDown = false
})
