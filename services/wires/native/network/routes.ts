import * as z from 'zod'
import { NetworkBody, wantedOf } from '../../../http/network-body.ts'
import { json } from '../../../http/responses.ts'
import { defineRoute, type AnyRoute } from '../../../http/route.ts'
import { listOf, listSchema, pageOf, StrictListQuery } from '../../../http/schemas.ts'
import type { Container } from '../../../model/containers/container.ts'
import { answerSchema, type Described } from '../../../model/lazy-schema.ts'
import type { NetworkEntry } from '../../../model/network/network-log.ts'
import { hostsOf } from '../../../model/network/policy.ts'
import { hasNetwork, placeholdersOf, policyOf } from '../../../model/network/secret.ts'
import { containerOf, containerMissing } from '../../../operations/access.ts'
import { ceilingOf, checkNetwork } from '../../../operations/network/new-policy.ts'
import { setContainerNetwork } from '../../../operations/network/set-network.ts'

const PATH = '/v1/containers/{container_id}/network'
const TAG = 'Network'

const Rules = answerSchema(() =>
  z.array(
    z.object({
      host: z.string(),
      methods: z.array(z.string()).optional(),
      paths: z.array(z.string()).optional(),
      inject: z.array(z.object({ header: z.string(), secret: z.string(), prefix: z.string().optional() })).optional(),
    }),
  ),
)

const ContainerNetwork = answerSchema(() =>
  z
    .object({
      object: z.literal('container.network'),
      container_id: z.string(),
      allow: Rules(),
      presets: z.array(z.string()),
      secrets: z.array(z.string()).openapi({ description: 'Secrets of which code has the placeholder.' }),
      bytes: z
        .int()
        .nullable()
        .openapi({ description: 'Bytes that code may send and receive; null for no limit but that of the account.' }),
      used_bytes: z.int().nullable().openapi({ description: 'Null without a limit.' }),
      hosts: z.array(z.string()).openapi({ description: 'Hosts of the rules and of the presets.' }),
      ceiling: z.array(z.string()).openapi({ description: 'Hosts that the operator allows to this account.' }),
      environment: z.record(z.string(), z.string()).openapi({ description: 'Variables with placeholders, as code sees them.' }),
      is_enabled: z.boolean().openapi({ description: 'Whether this server has a gateway.' }),
    })
    .openapi('ContainerNetwork'),
)

const render = (row: Container, ceiling: readonly string[], isEnabled: boolean): Described<typeof ContainerNetwork> => {
  const { allow, presets, secrets = [], bytes = null } = policyOf(row)
  return {
    object: 'container.network',
    container_id: row.id,
    allow: allow.map((rule) => ({ ...rule })) as Described<typeof ContainerNetwork>['allow'],
    presets: [...presets],
    secrets: [...secrets],
    bytes,
    used_bytes: bytes === null ? null : (row.networkBytes ?? 0),
    hosts: hasNetwork(row) ? [...hostsOf(policyOf(row))] : [],
    ceiling: [...ceiling],
    environment: placeholdersOf(row),
    is_enabled: isEnabled,
  }
}

const getNetworkRoute = defineRoute({
  method: 'get',
  path: PATH,
  auth: 'session',
  scope: 'read',
  operationId: 'getContainerNetwork',
  tag: TAG,
  summary: 'What a container may reach',
  answers: { 200: { description: 'The policy.', schema: ContainerNetwork } },
  errors: ['container_not_found'],
  async handle(call) {
    const { deps, caller } = call
    const container = await containerOf(call, call.param('container_id'), 'read')
    return json(200, render(container, hostsOf(await ceilingOf(deps, caller.tenant)), deps.network !== undefined))
  },
})

const setNetworkRoute = defineRoute({
  method: 'put',
  path: PATH,
  auth: 'session',
  scope: 'run',
  operationId: 'setContainerNetwork',
  tag: TAG,
  summary: 'Replace what a container may reach',
  description:
    'It applies to running code: each request that begins after the answer is decided by the new policy. `{}` ends every connection. Hosts must be within what the operator allows.',
  body: NetworkBody,
  answers: { 200: { description: 'The policy.', schema: ContainerNetwork } },
  errors: [
    'container_not_found',
    'network_not_allowed',
    'secret_not_found',
    'unsupported_value',
    'limit_exceeded',
    'sandbox_unavailable',
    'not_ready',
  ],
  async handle(call) {
    const { deps, caller, body } = call
    const container = await containerOf(call, call.param('container_id'), 'run')
    const wanted = wantedOf(body)
    await checkNetwork(deps, container, { wanted, param: 'allow' })
    const changed = await setContainerNetwork(deps, container, wanted)
    if (changed === null) throw containerMissing(container.id)
    return json(200, render(changed, hostsOf(await ceilingOf(deps, caller.tenant)), deps.network !== undefined))
  },
})

const NetworkRequestObject = answerSchema(() =>
  z
    .object({
      id: z.string(),
      object: z.literal('network_request'),
      at: z.string(),
      host: z.string(),
      method: z.string(),
      path: z.string().openapi({ description: 'Without the query.' }),
      status: z.int().nullable().openapi({ description: 'Status of the answer; null without one.' }),
      bytes_up: z.int(),
      bytes_down: z.int(),
      decision: z.enum(['allowed', 'refused']),
      reason: z.string().nullable(),
      secret: z.string().nullable().openapi({ description: 'Name of the secret that the request received.' }),
    })
    .openapi('NetworkRequest'),
)

const renderEntry = (id: string, entry: NetworkEntry): Described<typeof NetworkRequestObject> => ({
  id,
  object: 'network_request',
  at: new Date(entry.at).toISOString(),
  host: entry.host,
  method: entry.method,
  path: entry.path,
  status: entry.status,
  bytes_up: entry.bytesUp,
  bytes_down: entry.bytesDown,
  decision: entry.decision,
  reason: entry.reason,
  secret: entry.secret,
})

const listRequestsRoute = defineRoute({
  method: 'get',
  path: `${PATH}/requests`,
  auth: 'session',
  scope: 'read',
  operationId: 'listNetworkRequests',
  tag: TAG,
  summary: 'Requests of the code in a container',
  description: 'Refused ones too, the latest first. The latest 9,900 to 10,000 of a container are kept, and as long as its executions.',
  query: StrictListQuery,
  answers: { 200: { description: 'A page of requests.', schema: listSchema(NetworkRequestObject, 'NetworkRequestList') } },
  errors: ['container_not_found'],
  async handle(call) {
    const { deps, query } = call
    const { tenant, id: containerId } = await containerOf(call, call.param('container_id'), 'read')
    const { rows, hasMore } = await deps.table.networkLog.list({ tenant, containerId }, pageOf(query))
    return json(
      200,
      listOf(
        rows.map(({ id, entry }) => renderEntry(id, entry)),
        hasMore,
      ),
    )
  },
})

export const networkRoutes: readonly AnyRoute[] = [getNetworkRoute, setNetworkRoute, listRequestsRoute]
