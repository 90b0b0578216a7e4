import * as z from 'zod'
import { boundedList } from '../../../model/bounded-schemas.ts'
import { answerSchema, lazySchema, type Described } from '../../../model/lazy-schema.ts'
import { DELIVERY_STATUSES, WEBHOOK_EVENT_TYPES, type Delivery, type WebhookEndpoint } from '../../../model/webhooks/webhook.ts'
import { ListQuery } from '../../../http/schemas.ts'

const EventType = lazySchema(() => z.enum(WEBHOOK_EVENT_TYPES))
const name = lazySchema(() => z.string().trim().min(1).max(256))
const url = lazySchema(() => z.string().min(1).max(2_048).openapi({ description: 'A public https address.' }))
const eventTypes = lazySchema(() => boundedList(EventType(), { min: 1, max: WEBHOOK_EVENT_TYPES.length }))

export const CreateWebhook = lazySchema(() => z.strictObject({ name: name(), url: url(), event_types: eventTypes() }))
export const UpdateWebhook = lazySchema(() =>
  z.strictObject({ name: name().optional(), url: url().optional(), event_types: eventTypes().optional() }),
)
export const RotateWebhookSecret = lazySchema(() =>
  z.strictObject({
    keep_old_secret_active_for_24_hours: z
      .boolean()
      .optional()
      .openapi({ description: 'Deliveries have a signature of both secrets for 24 hours.' }),
  }),
)
export const TestWebhook = lazySchema(() => z.strictObject({ event_type: EventType() }))
export const DeliveryQuery = lazySchema(() =>
  ListQuery().extend({
    status: z.enum(DELIVERY_STATUSES).optional().openapi({ description: '`dead` lists those whose retries are over.' }),
  }),
)

const endpoint = answerSchema(() => ({
  id: z.string(),
  object: z.literal('webhook_endpoint'),
  created_at: z.int(),
  updated_at: z.int(),
  name: z.string(),
  url: z.string(),
  event_types: z.array(EventType()),
  signing_secret_hint: z.string().nullable(),
}))
export const WebhookObject = lazySchema(() => z.object(endpoint()).openapi('WebhookEndpoint'))
export const WebhookWithSecret = lazySchema(() =>
  z
    .object({ ...endpoint(), signing_secret: z.string().openapi({ description: 'For `client.webhooks.unwrap()`; in this answer only.' }) })
    .openapi('WebhookEndpointWithSecret'),
)
export const WebhookTestResult = lazySchema(() =>
  z
    .object({
      object: z.literal('webhook_endpoint.test'),
      webhook_endpoint_id: z.string(),
      event_type: EventType(),
      success: z.literal(true),
      status_code: z.int(),
    })
    .openapi('WebhookTestResult'),
)
export const EventTypeList = answerSchema(() =>
  z.object({ object: z.literal('list'), data: z.array(EventType()) }).openapi('WebhookEventTypes'),
)

export const DeliveryObject = answerSchema(() =>
  z
    .object({
      id: z.string(),
      object: z.literal('webhook_delivery'),
      event_id: z.string().openapi({ description: 'The header `webhook-id` of every attempt.' }),
      event_type: EventType(),
      data: z.record(z.string(), z.string().nullable()),
      status: z.enum(DELIVERY_STATUSES),
      attempts: z.int(),
      last_status_code: z.int().nullable(),
      last_error: z.string().nullable(),
      created_at: z.int(),
      next_attempt_at: z.int().nullable(),
      ended_at: z.int().nullable(),
    })
    .openapi('WebhookDelivery'),
)

const seconds = (at: number): number => Math.floor(at / 1000)

export const renderWebhook = (row: WebhookEndpoint): Described<typeof WebhookObject> => ({
  id: row.id,
  object: 'webhook_endpoint',
  created_at: seconds(row.createdAt),
  updated_at: seconds(row.updatedAt),
  name: row.name,
  url: row.url,
  event_types: [...row.eventTypes],
  signing_secret_hint: `whsec_…${row.secret.slice(-4)}`,
})

export const renderDelivery = (row: Delivery): Described<typeof DeliveryObject> => ({
  id: row.id,
  object: 'webhook_delivery',
  event_id: row.eventId,
  event_type: row.eventType,
  data: row.data,
  status: row.status,
  attempts: row.attempts,
  last_status_code: row.lastStatusCode,
  last_error: row.lastError,
  created_at: seconds(row.createdAt),
  next_attempt_at: row.status === 'pending' ? seconds(row.nextAttemptAt) : null,
  ended_at: row.endedAt === null ? null : seconds(row.endedAt),
})
