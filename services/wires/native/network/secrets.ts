import * as z from 'zod'
import { secretHosts, secretValue } from '../../../http/network-body.ts'
import { json } from '../../../http/responses.ts'
import { defineRoute, type AnyRoute } from '../../../http/route.ts'
import { validate } from '../../../http/validate.ts'
import { answerSchema, lazySchema, type Described } from '../../../model/lazy-schema.ts'
import { SecretName } from '../../../model/network/policy-schema.ts'
import type { StoredSecret } from '../../../model/network/secret.ts'
import { deleteSecret, putSecret, secretOf, secretsOf } from '../../../operations/network/tenant-secrets.ts'

const PATH = '/v1/secrets/{secret_name}'
const TAG = 'Network'

const PutSecret = lazySchema(() => z.strictObject({ value: secretValue(), hosts: secretHosts() }).openapi('PutSecret'))

const Secret = answerSchema(() =>
  z
    .object({
      object: z.literal('secret'),
      name: z.string().openapi({ description: 'Also the environment variable with the placeholder.' }),
      hosts: z.array(z.string()),
      created_at: z.string(),
      updated_at: z.string(),
      last_used_at: z
        .string()
        .nullable()
        .openapi({ description: 'Accurate to five minutes; null for a secret that no request has received.' }),
    })
    .openapi('Secret'),
)
const SecretList = answerSchema(() => z.object({ object: z.literal('list'), data: z.array(Secret()) }).openapi('SecretList'))

const timeOf = (at: number): string => new Date(at).toISOString()
const render = ({ name, hosts, createdAt, updatedAt, lastUsedAt }: StoredSecret): Described<typeof Secret> => ({
  object: 'secret',
  name,
  hosts: [...hosts],
  created_at: timeOf(createdAt),
  updated_at: timeOf(updatedAt),
  last_used_at: lastUsedAt === null ? null : timeOf(lastUsedAt),
})

const putSecretRoute = defineRoute({
  method: 'put',
  path: PATH,
  auth: 'session',
  scope: 'secrets',
  operationId: 'putSecret',
  tag: TAG,
  summary: 'Store a secret, or replace its value',
  description:
    'No answer contains the value. A container whose policy names the secret gets a placeholder; the value is put into headers of its requests to these hosts. With a key of an end user only the containers of that user can use it.',
  body: PutSecret,
  answers: { 200: { description: 'The secret without its value.', schema: Secret } },
  errors: ['unsupported_value', 'limit_exceeded', 'not_ready'],
  async handle(call) {
    const name = validate(z.object({ secret_name: SecretName() }), { secret_name: call.param('secret_name') }, 'query').secret_name
    return json(200, render(await putSecret(call, { name, ...call.body })))
  },
})

const listSecretsRoute = defineRoute({
  method: 'get',
  path: '/v1/secrets',
  auth: 'session',
  scope: 'secrets',
  operationId: 'listSecrets',
  tag: TAG,
  summary: 'List secrets',
  answers: { 200: { description: 'All secrets, without their values.', schema: SecretList } },
  handle: async (call) => json(200, { object: 'list', data: (await secretsOf(call)).map(render) }),
})

const getSecretRoute = defineRoute({
  method: 'get',
  path: PATH,
  auth: 'session',
  scope: 'secrets',
  operationId: 'getSecret',
  tag: TAG,
  summary: 'Get a secret',
  answers: { 200: { description: 'The secret without its value.', schema: Secret } },
  errors: ['secret_not_found'],
  handle: async (call) => json(200, render(await secretOf(call, call.param('secret_name')))),
})

const deleteSecretRoute = defineRoute({
  method: 'delete',
  path: PATH,
  auth: 'session',
  scope: 'secrets',
  operationId: 'deleteSecret',
  tag: TAG,
  summary: 'Delete a secret',
  description: 'Requests that need it are refused from the next execution of their container on.',
  answers: {
    200: {
      description: 'The secret is deleted.',
      schema: () => z.object({ name: z.string(), object: z.literal('secret.deleted'), deleted: z.literal(true) }),
    },
  },
  errors: ['secret_not_found'],
  async handle(call) {
    const name = call.param('secret_name')
    await deleteSecret(call, name)
    return json(200, { name, object: 'secret.deleted', deleted: true })
  },
})

export const secretRoutes: readonly AnyRoute[] = [putSecretRoute, listSecretsRoute, getSecretRoute, deleteSecretRoute]
