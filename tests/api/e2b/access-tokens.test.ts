import { createHash } from 'node:crypto'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { exportJWK, generateKeyPair, SignJWT, type GenerateKeyPairResult } from 'jose'
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { newId } from '../../../services/model/ids.ts'
import { startApi, type TestApi } from '../../support/start-api.ts'

const ISSUER = 'https://login.example'
let api: TestApi
let jwks: Server
let pair: GenerateKeyPairResult
beforeAll(async () => {
  pair = await generateKeyPair('RS256', { extractable: true })
  const keySet = JSON.stringify({ keys: [{ ...(await exportJWK(pair.publicKey)), kid: 'first', alg: 'RS256' }] })
  jwks = createServer((_, response) => void response.writeHead(200, { 'content-type': 'application/json' }).end(keySet))
  await new Promise<void>((resolve) => jwks.listen(0, '127.0.0.1', resolve))
  const issuer = {
    issuer: ISSUER,
    jwksUrl: `http://127.0.0.1:${(jwks.address() as AddressInfo).port}/jwks`,
    audience: 'cellblock',
    tenant: null,
    tenantClaim: 'tenant',
    subjectClaim: 'sub',
    scopesClaim: 'scope',
    mayAdminister: false,
  }
  api = await startApi({ config: { keyCacheMs: 0, tokenIssuers: [issuer] } })
})
afterAll(async () => {
  jwks.close()
  await api.stop()
})
afterEach(() => void (api.skew = 0))

interface Opened {
  readonly sandboxID: string
  readonly envdAccessToken: string
  readonly trafficAccessToken: string
}
const control = (method: string, path: string, key: string, body?: unknown): Promise<Response> =>
  fetch(`${api.url}/e2b${path}`, {
    method,
    headers: { 'x-api-key': key, ...(body !== undefined && { 'content-type': 'application/json' }) },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
const open = async (path: string, key: string, body: unknown = {}): Promise<Opened> => {
  const answer = await control('POST', path, key, body)
  expect([200, 201]).toContain(answer.status)
  return (await answer.json()) as Opened
}
const create = (key: string, body?: unknown): Promise<Opened> => open('/v2/sandboxes', key, body)
const connect = ({ sandboxID }: Opened, key: string): Promise<Opened> => open(`/v2/sandboxes/${sandboxID}/connect`, key)
const call = async ({ sandboxID, envdAccessToken }: Opened, path = '/contexts', init: RequestInit = {}): Promise<number> => {
  const headers = { 'e2b-sandbox-id': sandboxID, 'x-access-token': envdAccessToken, 'content-type': 'application/json' }
  return (await fetch(`${api.url}/e2b${path}`, { ...init, headers })).status
}
const upload = (opened: Opened): Promise<number> => call(opened, '/files?path=a.txt', { method: 'POST', body: '{}' })
const jwt = (tenant: string, expiresInSeconds: number, claims: Record<string, string> = {}): Promise<string> => {
  const now = Math.floor(api.now() / 1000)
  const payload = { iss: ISSUER, aud: 'cellblock', sub: 'ann', tenant, scope: 'run read', iat: now, exp: now + expiresInSeconds, ...claims }
  return new SignJWT(payload).setProtectedHeader({ alg: 'RS256', kid: 'first' }).sign(pair.privateKey)
}
const newTenant = async (): Promise<string> => {
  const id = newId('tenant')
  await api.table.tenants.create({ v: 1, id, name: 'tokens', createdAt: 1 })
  return id
}

it('gives each key its own token, which is the same at each connect', async () => {
  const other = await api.newKey({ tenant: api.owner.tenant })
  const mine = await create(api.owner.key)
  const others = await connect(mine, other.key)
  expect(others.envdAccessToken).not.toBe(mine.envdAccessToken)
  expect(await connect(mine, api.owner.key)).toEqual(mine)
  for (const opened of [mine, others]) expect(await call(opened)).toBe(200)
})

it('refuses the token of a revoked key after another key has connected', async () => {
  const lost = await api.newKey({ tenant: api.owner.tenant })
  const before = await create(lost.key)
  const after = await connect(before, api.owner.key)
  await api.table.tenants.revokeKey(lost.keyId, api.now())
  expect(await call(before)).toBe(401)
  expect(await call(after)).toBe(200)
})

it('keeps the scopes of a token when a key with more scopes connects', async () => {
  const narrow = await api.newKey({ tenant: api.owner.tenant, scopes: ['run', 'read'] })
  const before = await create(narrow.key)
  const after = await connect(before, api.owner.key)
  expect(await upload(before)).toBe(403)
  expect(await upload(after)).toBe(200)
})

it('ends the token of a key with an expiry at that time', async () => {
  const brief = await api.newKey({ tenant: api.owner.tenant, expiresAt: api.now() + 60_000 })
  const opened = await create(brief.key, { timeout: 3_600 })
  expect(await call(opened)).toBe(200)
  api.skew = 61_000
  expect(await call(opened)).toBe(401)
})

it('ends the token that a JSON Web Token opened with it, and renews it by connecting with a later one', async () => {
  const tenant = await newTenant()
  const first = await create(await jwt(tenant, 60), { timeout: 3_600 })
  const second = await connect(first, await jwt(tenant, 600))
  expect(await call(first)).toBe(200)
  api.skew = 61_000
  expect(await call(first)).toBe(401)
  expect(await call(second)).toBe(200)
  api.skew = 601_000
  expect(await call(second)).toBe(401)
})

it('ends every token when the tenant is deleted', async () => {
  const tenant = await newTenant()
  const key = await api.newKey({ tenant })
  const byKey = await create(key.key)
  const byJwt = await create(await jwt(tenant, 600))
  for (const opened of [byKey, byJwt]) expect(await call(opened)).toBe(200)
  await api.table.tenants.beginDeletion(tenant, api.now())
  for (const opened of [byKey, byJwt]) expect(await call(opened)).toBe(401)
})

it('keeps every token when many keys connect at the same time', async () => {
  const keys = await Promise.all(Array.from({ length: 8 }, () => api.newKey({ tenant: api.owner.tenant })))
  const first = await create(api.owner.key)
  const opened = await Promise.all(keys.map(({ key }) => connect(first, key)))
  for (const one of [first, ...opened]) expect(await call(one)).toBe(200)
})

it('opens no sandbox whose stored session has another form', async () => {
  const opened = await create(api.owner.key)
  const id = `cntr_${opened.sandboxID.slice(0, 26)}`
  await api.table.containers.updateExtension({ tenant: api.owner.tenant, id, wire: 'e2b' }, (stored) => ({ ...stored, grants: [{}] }))
  expect(await call(opened)).toBe(500)
})

it('keeps the tokens of the fifty keys that connected last', async () => {
  const first = await create(api.owner.key)
  let last = first
  for (let more = 0; more < 50; more++) last = await connect(first, (await api.newKey({ tenant: api.owner.tenant })).key)
  expect(await call(first)).toBe(401)
  expect(await call(last)).toBe(200)
  expect(await call(await connect(first, api.owner.key))).toBe(200)
})

it('opens files by the signature of every token', async () => {
  const other = await api.newKey({ tenant: api.owner.tenant })
  const mine = await create(api.owner.key)
  const others = await connect(mine, other.key)
  expect(await upload(mine)).toBe(200)
  const read = async (token: string): Promise<number> => {
    const signature = `v1_${createHash('sha256').update(`a.txt:read::${token}`).digest('base64').replace(/=+$/, '')}`
    const query = new URLSearchParams({ path: 'a.txt', username: '', signature }).toString()
    return (await fetch(`${api.url}/e2b/files?${query}`, { headers: { 'e2b-sandbox-id': mine.sandboxID } })).status
  }
  expect(await read(mine.envdAccessToken)).toBe(200)
  expect(await read(others.envdAccessToken)).toBe(200)
  expect(await read('x')).toBe(401)
  await api.table.tenants.revokeKey(other.keyId, api.now())
  expect(await read(others.envdAccessToken)).toBe(401)
})

it('takes a signature for the file, the operation and the user that it was made for', async () => {
  const { sandboxID, envdAccessToken } = await create(api.owner.key)
  const signed = (text: string): string =>
    `v1_${createHash('sha256').update(`${text}:${envdAccessToken}`).digest('base64').replace(/=+$/, '')}`
  const files = async (method: string, path: string, username: string, signature: string): Promise<number> => {
    const query = new URLSearchParams({ path, username, signature }).toString()
    const headers = { 'e2b-sandbox-id': sandboxID }
    return (await fetch(`${api.url}/e2b/files?${query}`, { method, headers, ...(method === 'POST' && { body: 'x' }) })).status
  }
  expect(await files('POST', 'report', 'user', signed('report:write:user'))).toBe(200)
  expect(await files('GET', 'report', 'user', signed('report:read:user'))).toBe(200)
  // The link to read a file with colons in its name is none to write or to read another file.
  expect(await files('POST', 'report', ':read:', signed('report:write::read:'))).toBe(401)
  expect(await files('GET', 'report', ':read:', signed('report:read::read:'))).toBe(401)
})
