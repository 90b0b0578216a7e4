import { ServiceError } from '../../../model/errors.ts'
import { isId } from '../../../model/ids.ts'
import { apiKeyRow, newApiKey } from '../../../model/tenants/api-keys.ts'
import type { ApiKey } from '../../../model/tenants/tenant.ts'
import type { ApiDeps } from '../../../http/deps.ts'
import { pageOfList } from '../../../http/paging.ts'
import { json } from '../../../http/responses.ts'
import { defineRoute, type AnyRoute } from '../../../http/route.ts'
import { StrictListQuery, listOf, listSchema, pageOf } from '../../../http/schemas.ts'
import { CreateKey, KeyObject, NewKeyObject, renderKey } from './schema.ts'
import { liveTenantOf, tenantOf } from './tenants.ts'

const keyMissing = (id: string): ServiceError =>
  new ServiceError(
    'key_not_found',
    `No API key ${JSON.stringify(id.slice(0, 80))} exists. List them with GET /v1/admin/tenants/{tenant_id}/keys.`,
  )

async function keyOf({ table }: Pick<ApiDeps, 'table'>, id: string): Promise<ApiKey> {
  const key = isId('key', id) ? await table.tenants.getKey(id) : null
  if (key === null) throw keyMissing(id)
  return key
}

const createKeyRoute = defineRoute({
  method: 'post',
  path: '/v1/admin/tenants/{tenant_id}/keys',
  auth: 'session',
  scope: 'admin',
  operationId: 'createKey',
  tag: 'Administration',
  summary: 'Create an API key',
  description: 'A tenant may have several keys at the same time, so a client can change to a new key before the old one is revoked.',
  body: CreateKey,
  answers: { 201: { description: 'The key. `api_key` cannot be read later.', schema: NewKeyObject } },
  errors: ['tenant_not_found', 'conflict'],
  async handle({ deps, param, body, note }) {
    const { id: tenant } = await liveTenantOf(deps, param('tenant_id'))
    const now = deps.clock.now()
    const expiresAt = body.expires_at === undefined || body.expires_at === null ? null : Date.parse(body.expires_at)
    if (expiresAt !== null && expiresAt <= now)
      throw new ServiceError('invalid_request', "'expires_at' is in the past. Give a later time.", { param: 'expires_at' })
    const secret = newApiKey()
    const { name = null, subject = null, scopes } = body
    const key = apiKeyRow(secret, { tenant, name, subject, expiresAt, ...(scopes !== undefined && { scopes: [...new Set(scopes)] }) }, now)
    await deps.table.tenants.putKey(key)
    note('target_tenant', tenant)
    note('target_key', key.id)
    return json(201, { ...renderKey(key), api_key: secret })
  },
})

const listKeysRoute = defineRoute({
  method: 'get',
  path: '/v1/admin/tenants/{tenant_id}/keys',
  auth: 'session',
  scope: 'admin',
  operationId: 'listKeys',
  tag: 'Administration',
  summary: 'List the API keys of a tenant',
  description: 'Revoked and expired keys are listed too. The keys themselves are not stored.',
  query: StrictListQuery,
  answers: { 200: { description: 'A page of keys.', schema: listSchema(KeyObject, 'ApiKeyList') } },
  errors: ['tenant_not_found'],
  async handle({ deps, param, query }) {
    const { id } = await tenantOf(deps, param('tenant_id'))
    const keys = (await deps.table.tenants.listKeys()).filter(({ tenant }) => tenant === id)
    const page = pageOfList(keys, pageOf(query))
    return json(200, listOf(page.rows.map(renderKey), page.hasMore))
  },
})

const listAllKeysRoute = defineRoute({
  method: 'get',
  path: '/v1/admin/keys',
  auth: 'session',
  scope: 'admin',
  operationId: 'listAllKeys',
  tag: 'Administration',
  summary: 'List the API keys of all tenants',
  description: 'Revoked and expired keys are listed too. The keys themselves are not stored.',
  query: StrictListQuery,
  answers: { 200: { description: 'A page of keys.', schema: listSchema(KeyObject, 'ApiKeyList') } },
  async handle({ deps, query }) {
    const page = pageOfList(await deps.table.tenants.listKeys(), pageOf(query))
    return json(200, listOf(page.rows.map(renderKey), page.hasMore))
  },
})

const getKeyRoute = defineRoute({
  method: 'get',
  path: '/v1/admin/keys/{key_id}',
  auth: 'session',
  scope: 'admin',
  operationId: 'getKey',
  tag: 'Administration',
  summary: 'Get an API key',
  answers: { 200: { description: 'The key without its secret.', schema: KeyObject } },
  errors: ['key_not_found'],
  handle: async ({ deps, param }) => json(200, renderKey(await keyOf(deps, param('key_id')))),
})

const revokeKeyRoute = defineRoute({
  method: 'post',
  path: '/v1/admin/keys/{key_id}/revoke',
  auth: 'session',
  scope: 'admin',
  operationId: 'revokeKey',
  tag: 'Administration',
  summary: 'Revoke an API key',
  description: 'Permanent; takes effect within five seconds. A second call does not change `revoked_at`.',
  answers: { 200: { description: 'The revoked key.', schema: KeyObject } },
  errors: ['key_not_found'],
  async handle({ deps, param, note }) {
    const { id } = await keyOf(deps, param('key_id'))
    const revoked = await deps.table.tenants.revokeKey(id, deps.clock.now())
    if (revoked === null) throw keyMissing(id)
    note('target_tenant', revoked.tenant)
    note('target_key', id)
    return json(200, renderKey(revoked))
  },
})

export const keyRoutes: readonly AnyRoute[] = [createKeyRoute, listKeysRoute, listAllKeysRoute, getKeyRoute, revokeKeyRoute]
