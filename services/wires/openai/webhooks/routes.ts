import { ServiceError } from '../../../model/errors.ts'
import { newId } from '../../../model/ids.ts'
import { LIMITS } from '../../../model/limits.ts'
import { newDelivery, newWebhookSecret, webhookBody, WEBHOOK_EVENT_TYPES, type WebhookEndpoint } from '../../../model/webhooks/webhook.ts'
import { changeEndpoints, readEndpoints } from '../../../operations/webhooks/endpoints.ts'
import { urlProblem } from '../../../operations/webhooks/safe-lookup.ts'
import { sendWebhook } from '../../../operations/webhooks/send-webhook.ts'
import { visibleTo, webhookOf } from '../../../operations/access.ts'
import { claimId } from '../../../http/claim-id.ts'
import { collectPage, pageOfList } from '../../../http/paging.ts'
import { json } from '../../../http/responses.ts'
import { defineRoute, type AnyRoute, type Call } from '../../../http/route.ts'
import { deletedSchema, ListQuery, listOf, listSchema, pageOf } from '../../../http/schemas.ts'
import * as schema from './schema.ts'

const PATH = '/v1/webhook_endpoints/{webhook_endpoint_id}'
const TAG = 'Webhooks'
const ERROR_CODES = ['webhook_endpoint_not_found'] as const

function checkUrl({ deps }: Pick<Call, 'deps'>, url: string | undefined): void {
  const problem = url === undefined ? null : urlProblem(url, deps.config.webhookHosts)
  if (problem !== null) throw new ServiceError('invalid_request', `'url' ${problem}.`, { param: 'url' })
}

/** Replaces the endpoint and returns it as it is then. Throws ServiceError `webhook_endpoint_not_found`. */
async function replace(call: Call, change: (row: WebhookEndpoint) => WebhookEndpoint): Promise<WebhookEndpoint> {
  const { id } = await webhookOf(call, call.param('webhook_endpoint_id'), 'run')
  const changed = await changeEndpoints(call.deps.table.sharedRows, call.caller.tenant, (rows) => {
    const endpoints = rows.map((row) => (row.id === id ? change(row) : row))
    return { endpoints, result: endpoints.find((row) => row.id === id) }
  })
  // Deleted since the read above.
  return changed ?? webhookOf(call, id, 'run')
}

const createWebhookRoute = defineRoute({
  method: 'post',
  path: '/v1/webhook_endpoints',
  auth: 'session',
  scope: 'run',
  operationId: 'createWebhookEndpoint',
  tag: TAG,
  summary: 'Create a webhook endpoint',
  description:
    'Signed by Standard Webhooks. Failed deliveries are repeated for 24 hours. With a key of an end user it receives the events of that user only.',
  body: schema.CreateWebhook,
  creates: 'webhook',
  errors: ['limit_exceeded'],
  answers: { 200: { description: 'The endpoint with its secret.', schema: schema.WebhookWithSecret } },
  async handle(call) {
    const { deps, caller, body } = call
    checkUrl(call, body.url)
    const { id, isReplay } = await claimId(call, 'webhook', { body: call.rawBody })
    const now = deps.clock.now()
    const fresh: WebhookEndpoint = {
      id,
      subject: caller.subject,
      name: body.name,
      url: body.url,
      eventTypes: [...new Set(body.event_types)],
      secret: newWebhookSecret(),
      formerSecret: null,
      createdAt: now,
      updatedAt: now,
    }
    const endpoint = await changeEndpoints(deps.table.sharedRows, caller.tenant, (rows) => {
      const earlier = rows.find((row) => row.id === id)
      if (earlier !== undefined) return { endpoints: rows, result: earlier }
      if (rows.length >= LIMITS.maxWebhookEndpoints)
        throw new ServiceError('limit_exceeded', `This account has ${rows.length} webhook endpoints, the maximum. Delete one.`)
      return { endpoints: [...rows, fresh], result: fresh }
    })
    call.note('webhook_endpoint', id)
    const headers = isReplay ? { 'idempotent-replayed': 'true' } : {}
    return json(200, { ...schema.renderWebhook(endpoint), signing_secret: endpoint.secret }, headers)
  },
})

const listWebhooksRoute = defineRoute({
  method: 'get',
  path: '/v1/webhook_endpoints',
  auth: 'session',
  scope: 'read',
  operationId: 'listWebhookEndpoints',
  tag: TAG,
  summary: 'List webhook endpoints',
  query: ListQuery,
  answers: { 200: { description: 'A page of endpoints.', schema: listSchema(schema.WebhookObject, 'WebhookEndpointList') } },
  async handle({ deps, caller, query }) {
    const rows = await readEndpoints(deps.table.sharedRows, caller.tenant)
    const page = pageOfList(rows, pageOf(query), visibleTo(caller, 'read'))
    return json(200, listOf(page.rows.map(schema.renderWebhook), page.hasMore))
  },
})

const getWebhookRoute = defineRoute({
  method: 'get',
  path: PATH,
  auth: 'session',
  scope: 'read',
  operationId: 'getWebhookEndpoint',
  tag: TAG,
  summary: 'Get a webhook endpoint',
  answers: { 200: { description: 'The endpoint.', schema: schema.WebhookObject } },
  errors: ERROR_CODES,
  handle: async (call) => json(200, schema.renderWebhook(await webhookOf(call, call.param('webhook_endpoint_id'), 'read'))),
})

const updateWebhookRoute = defineRoute({
  method: 'post',
  path: PATH,
  auth: 'session',
  scope: 'run',
  operationId: 'updateWebhookEndpoint',
  tag: TAG,
  summary: 'Change a webhook endpoint',
  description: 'Absent fields are unchanged. Pending deliveries go to the new address.',
  body: schema.UpdateWebhook,
  answers: { 200: { description: 'The endpoint.', schema: schema.WebhookObject } },
  errors: ERROR_CODES,
  async handle(call) {
    const { name, url, event_types: eventTypes } = call.body
    checkUrl(call, url)
    const updatedAt = call.deps.clock.now()
    const endpoint = await replace(call, (row) => ({
      ...row,
      name: name ?? row.name,
      url: url ?? row.url,
      eventTypes: eventTypes === undefined ? row.eventTypes : [...new Set(eventTypes)],
      updatedAt,
    }))
    return json(200, schema.renderWebhook(endpoint))
  },
})

const deleteWebhookRoute = defineRoute({
  method: 'delete',
  path: PATH,
  auth: 'session',
  scope: 'run',
  operationId: 'deleteWebhookEndpoint',
  tag: TAG,
  summary: 'Delete a webhook endpoint',
  description: 'Pending deliveries end as `dead`.',
  answers: { 200: { description: 'The webhook endpoint is deleted.', schema: deletedSchema('webhook_endpoint.deleted') } },
  errors: ERROR_CODES,
  async handle(call) {
    const { id } = await webhookOf(call, call.param('webhook_endpoint_id'), 'run')
    await changeEndpoints(call.deps.table.sharedRows, call.caller.tenant, (rows) => ({
      endpoints: rows.filter((row) => row.id !== id),
      result: null,
    }))
    return json(200, { id, object: 'webhook_endpoint.deleted', deleted: true })
  },
})

const rotateSecretRoute = defineRoute({
  method: 'post',
  path: `${PATH}/rotate_secret`,
  auth: 'session',
  scope: 'run',
  operationId: 'rotateWebhookSecret',
  tag: TAG,
  summary: 'Replace the signing secret',
  body: schema.RotateWebhookSecret,
  answers: { 200: { description: 'The endpoint with its new secret.', schema: schema.WebhookWithSecret } },
  errors: ERROR_CODES,
  async handle(call) {
    const now = call.deps.clock.now()
    const until = now + LIMITS.webhookOverlapHours * 3_600_000
    const secret = newWebhookSecret()
    const keepsOld = call.body.keep_old_secret_active_for_24_hours === true
    const endpoint = await replace(call, (row) => ({
      ...row,
      secret,
      formerSecret: keepsOld ? { secret: row.secret, until } : null,
      updatedAt: now,
    }))
    return json(200, { ...schema.renderWebhook(endpoint), signing_secret: secret })
  },
})

const testWebhookRoute = defineRoute({
  method: 'post',
  path: `${PATH}/test`,
  auth: 'session',
  scope: 'run',
  operationId: 'testWebhookEndpoint',
  tag: TAG,
  summary: 'Send a sample event',
  description: 'Sent once and at once; the answer has the status of the endpoint.',
  body: schema.TestWebhook,
  answers: { 200: { description: 'The endpoint answered.', schema: schema.WebhookTestResult } },
  errors: [...ERROR_CODES, 'webhook_unreachable'],
  async handle(call) {
    const { deps, caller, body } = call
    const endpoint = await webhookOf(call, call.param('webhook_endpoint_id'), 'run')
    const now = deps.clock.now()
    const objectId = newId(body.event_type.startsWith('response.') ? 'response' : 'execution')
    const event = { tenant: caller.tenant, subject: caller.subject, type: body.event_type, objectId, at: now, data: { id: objectId } }
    const sample = newDelivery(event, endpoint.id, { now, dueAt: now, traceparent: null })
    const sent = { id: sample.eventId, body: webhookBody(sample) }
    const result = await sendWebhook(endpoint, sent, { now, allowedHosts: deps.config.webhookHosts })
    if (result.kind === 'failed')
      throw new ServiceError('webhook_unreachable', `The endpoint gave no answer: ${result.reason} Check its address and its certificate.`)
    return json(200, {
      object: 'webhook_endpoint.test',
      webhook_endpoint_id: endpoint.id,
      event_type: body.event_type,
      success: true,
      status_code: result.status,
    })
  },
})

const listDeliveriesRoute = defineRoute({
  method: 'get',
  path: `${PATH}/deliveries`,
  auth: 'session',
  scope: 'read',
  operationId: 'listWebhookDeliveries',
  tag: TAG,
  summary: 'List the deliveries to an endpoint',
  description: `Ended deliveries are kept for ${LIMITS.deliveryDays} days.`,
  query: schema.DeliveryQuery,
  answers: { 200: { description: 'A page of deliveries.', schema: listSchema(schema.DeliveryObject, 'WebhookDeliveryList') } },
  errors: ERROR_CODES,
  async handle(call) {
    const { deps, caller, query } = call
    const { id } = await webhookOf(call, call.param('webhook_endpoint_id'), 'read')
    const status = query.status ?? null
    const page = await collectPage(
      pageOf(query),
      (request) => deps.table.deliveries.listByEndpoint(caller.tenant, id, request),
      (row) => status === null || row.status === status,
    )
    return json(200, listOf(page.rows.map(schema.renderDelivery), page.hasMore))
  },
})

const listEventTypesRoute = defineRoute({
  method: 'get',
  path: '/v1/webhook_event_types',
  auth: 'session',
  scope: 'read',
  operationId: 'listWebhookEventTypes',
  tag: TAG,
  summary: 'List the events that webhooks can have',
  answers: { 200: { description: 'The types of events.', schema: schema.EventTypeList } },
  handle: () => json(200, { object: 'list', data: WEBHOOK_EVENT_TYPES }),
})

export const webhookRoutes: readonly AnyRoute[] = [
  createWebhookRoute,
  listWebhooksRoute,
  getWebhookRoute,
  updateWebhookRoute,
  deleteWebhookRoute,
  rotateSecretRoute,
  testWebhookRoute,
  listDeliveriesRoute,
  listEventTypesRoute,
]
