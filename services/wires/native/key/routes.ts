import * as z from 'zod'
import { json } from '../../../http/responses.ts'
import { defineRoute, type AnyRoute } from '../../../http/route.ts'
import { answerSchema } from '../../../model/lazy-schema.ts'
import { JWT_KEY_PREFIX, SCOPES } from '../../../model/tenants/tenant.ts'

const KeyOfCall = answerSchema(() =>
  z
    .object({
      id: z.string().openapi({ description: `Begins with \`${JWT_KEY_PREFIX}\` for a token of an issuer, of which nothing is stored.` }),
      object: z.literal('key'),
      tenant_id: z.string(),
      tenant_name: z.string(),
      name: z.string().nullable(),
      subject: z.string().nullable().openapi({ description: 'The end user to whom the key is bound.' }),
      scopes: z.array(z.enum(SCOPES)),
      expires_at: z.string().nullable(),
    })
    .openapi('KeyOfCall'),
)

const keyOfCallRoute = defineRoute({
  method: 'get',
  path: '/v1/key',
  auth: 'session',
  scope: 'read',
  operationId: 'getOwnKey',
  tag: 'Service',
  summary: 'The key of this call',
  description: 'Its tenant, its scopes and its expiry, without the key itself.',
  answers: { 200: { description: 'The key.', schema: KeyOfCall } },
  async handle({ deps: { table }, caller }) {
    const isToken = caller.keyId.startsWith(JWT_KEY_PREFIX)
    const [tenant, key] = await Promise.all([table.tenants.get(caller.tenant), isToken ? null : table.tenants.getKey(caller.keyId)])
    const expiresAt = caller.expiresAt ?? key?.expiresAt ?? null
    return json(200, {
      id: caller.keyId,
      object: 'key',
      tenant_id: caller.tenant,
      tenant_name: tenant?.name ?? caller.tenant,
      name: key?.name ?? null,
      subject: caller.subject,
      scopes: [...caller.scopes],
      expires_at: expiresAt === null ? null : new Date(expiresAt).toISOString(),
    })
  },
})

export const keyOfCallRoutes: readonly AnyRoute[] = [keyOfCallRoute]
