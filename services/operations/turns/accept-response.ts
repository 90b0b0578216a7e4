import { notifyResponse } from '../notify/notify-response.ts'
import { RECONCILE_AFTER_MS } from '../../model/lease.ts'
import { ServiceError } from '../../model/errors.ts'
import { newId } from '../../model/ids.ts'
import { LIMITS } from '../../model/limits.ts'
import { objectPrefix } from '../../model/object-keys.ts'
import type { ObjectStore } from '../../ports/object-store.ts'
import type { Queue } from '../../ports/queue.ts'
import type { Table } from '../../ports/table.ts'
import { storeRequest } from './response-blobs.ts'
import type { ResponseRecord, ResponseRequest } from '../../model/responses/response.ts'
import { currentTraceparent } from '../../model/trace.ts'

export interface NewResponse {
  readonly tenant: string
  readonly subject: string | null
  readonly request: ResponseRequest
  readonly previousResponseId: string | null
  readonly conversationId?: string | null
  readonly publicUrl: string
  /** Set by callers that may be repeated; a new id otherwise. */
  readonly id?: string
}

/** The row of a new response with its whole request; nothing is written yet. */
export function newResponse(wanted: NewResponse, now: number): ResponseRecord {
  return {
    ...wanted,
    v: 1,
    id: wanted.id ?? newId('response'),
    status: 'queued',
    conversationId: wanted.conversationId ?? null,
    requestRef: null,
    containerId: wanted.request.interpreter?.containerId ?? null,
    items: [],
    itemsRef: null,
    pending: null,
    toolCalls: 0,
    consecutiveFailures: 0,
    usage: { inputTokens: 0, cachedTokens: 0, outputTokens: 0, reasoningTokens: 0 },
    error: null,
    incompleteReason: null,
    contextCut: null,
    traceparent: currentTraceparent(),
    createdAt: now,
    completedAt: null,
    cancelRequestedAt: null,
    stepsFailSince: null,
    lease: null,
    fence: 0,
    nextSeq: 0,
    tailEvents: [],
    dueAt: now + RECONCILE_AFTER_MS,
  }
}

/**
 * Writes the row, which accepts the response, then joins the queue of the conversation and sends a message. The reconciler replaces a lost message.
 * Throws ServiceError `conversation_not_found` or `too_many_queued`; then nothing was accepted.
 */
export async function acceptResponse(
  ports: { readonly table: Pick<Table, 'responses' | 'conversations'>; readonly queue: Queue; readonly objects: ObjectStore },
  response: ResponseRecord,
): Promise<void> {
  const stored = await storeRequest(ports.objects, response, response.request)
  await ports.table.responses.create({ ...response, ...stored }).catch(async (cause: unknown) => {
    if (stored.requestRef !== null) await ports.objects.delete(stored.requestRef.objectKey)
    throw cause
  })
  if (response.conversationId !== null) await joinConversation(ports, response, response.conversationId)
  await notifyResponse(ports.queue, response)
}

async function joinConversation(
  ports: { readonly table: Pick<Table, 'responses' | 'conversations'>; readonly objects: ObjectStore },
  { tenant, id, createdAt }: ResponseRecord,
  conversationId: string,
): Promise<void> {
  const joined = await ports.table.conversations.enqueue(tenant, conversationId, { responseId: id, now: createdAt })
  if (typeof joined !== 'string') return
  await ports.table.responses.remove(tenant, id)
  await ports.objects.deletePrefix(objectPrefix(tenant, id))
  if (joined === 'missing')
    throw new ServiceError(
      'conversation_not_found',
      `No conversation "${conversationId}" exists. Create one with POST /v1/conversations.`,
      {
        param: 'conversation',
      },
    )
  throw new ServiceError(
    'too_many_queued',
    `${LIMITS.maxQueuedPerConversation} responses already wait in this conversation, the maximum. Wait until one has ended.`,
    {
      param: 'conversation',
      limit: { name: 'max_queued_per_conversation', value: LIMITS.maxQueuedPerConversation, retryAfterSeconds: 1 },
    },
  )
}
