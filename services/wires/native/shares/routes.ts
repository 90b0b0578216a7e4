import * as z from 'zod'
import { hideLinks } from '../../../http/hide-links.ts'
import { json } from '../../../http/responses.ts'
import { defineRoute, type AnyRoute, type Call } from '../../../http/route.ts'
import { deletedSchema, ListQuery, listOf, listSchema, pageOf } from '../../../http/schemas.ts'
import type { ConversationItem, ConversationShare } from '../../../model/conversations/conversation.ts'
import { ServiceError } from '../../../model/errors.ts'
import { answerSchema, lazySchema, type Described } from '../../../model/lazy-schema.ts'
import { LIMITS } from '../../../model/limits.ts'
import { renderItem } from '../../../model/responses/items/item-types.ts'
import { conversationOf, executionOf } from '../../../operations/access.ts'
import { createShare, isShared, openShare, shareMissing, type SharedConversation } from '../../../operations/conversations/shares.ts'
import { executionFields } from '../executions/serialize.ts'
import { renderWork } from '../work/render-work.ts'

const Share = lazySchema(() =>
  z
    .object({
      id: z.string().openapi({ example: 'share_01kajv9h2s8p0ww3d4dq4cs1zt' }),
      object: z.literal('share'),
      created_at: z.string(),
      expires_at: z.string(),
    })
    .openapi('Share', { description: 'A link that shows a conversation to anyone who has it.' }),
)
const NewShare = answerSchema(() =>
  Share().extend({ url: z.string() }).openapi('NewShare', { description: '`url` is shown once: only its hash is stored.' }),
)

const renderShare = ({ id, createdAt, expiresAt }: ConversationShare): Described<typeof Share> => ({
  id,
  object: 'share',
  created_at: new Date(createdAt).toISOString(),
  expires_at: new Date(expiresAt).toISOString(),
})

const PATH = '/v1/conversations/{conversation_id}/shares'

const createShareRoute = defineRoute({
  method: 'post',
  path: PATH,
  auth: 'session',
  scope: 'share',
  operationId: 'createShare',
  tag: 'Conversations',
  summary: 'Make a read-only link to a conversation',
  description: `Anyone with the link reads the messages, the code and its outputs as they are now; later ones, files and variables stay private. At most ${LIMITS.maxSharesPerConversation} links per conversation. The key also needs the scope \`read\`.`,
  body: () =>
    z
      .strictObject({
        expires_in_days: z
          .int()
          .min(1)
          .max(LIMITS.maxShareDays)
          .optional()
          .openapi({ description: `${LIMITS.shareDays} by default.` }),
      })
      .openapi('CreateShare'),
  answers: { 200: { description: 'The link.', schema: NewShare } },
  errors: ['conversation_not_found', 'limit_exceeded'],
  async handle(call) {
    const row = await conversationOf(call, call.param('conversation_id'), 'read')
    const { share, token } = await createShare(call.deps, row, call.body.expires_in_days ?? LIMITS.shareDays)
    call.note('share_id', share.id)
    return json(200, { ...renderShare(share), url: `${call.publicUrl}/s/${token}` })
  },
})

const listSharesRoute = defineRoute({
  method: 'get',
  path: PATH,
  auth: 'session',
  scope: 'read',
  operationId: 'listShares',
  tag: 'Conversations',
  summary: 'List the links to a conversation',
  description: 'Without their addresses. Expired links are left out.',
  answers: { 200: { description: 'The links, the oldest first.', schema: listSchema(Share, 'ShareList') } },
  errors: ['conversation_not_found'],
  async handle(call) {
    const { shares = [] } = await conversationOf(call, call.param('conversation_id'), 'read')
    const now = call.deps.clock.now()
    return json(200, listOf(shares.filter(({ expiresAt }) => expiresAt > now).map(renderShare), false))
  },
})

const revokeShareRoute = defineRoute({
  method: 'delete',
  path: `${PATH}/{share_id}`,
  auth: 'session',
  scope: 'share',
  operationId: 'revokeShare',
  tag: 'Conversations',
  summary: 'Revoke a link to a conversation',
  description: 'The link answers 404 from then on.',
  answers: { 200: { description: 'The link is revoked.', schema: deletedSchema('share.deleted') } },
  errors: ['conversation_not_found', 'share_not_found'],
  async handle(call) {
    const { tenant, id } = await conversationOf(call, call.param('conversation_id'), 'read')
    const shareId = call.param('share_id')
    if ((await call.deps.table.conversations.removeShare(tenant, id, shareId)) === null)
      throw new ServiceError(
        'share_not_found',
        `The conversation has no link ${JSON.stringify(shareId.slice(0, 80))}. List them with GET ${PATH}.`,
      )
    return json(200, { id: shareId, object: 'share.deleted', deleted: true })
  },
})

const SharedConversationObject = answerSchema(() =>
  z
    .object({ object: z.literal('shared_conversation'), title: z.string().nullable(), shared_at: z.string(), expires_at: z.string() })
    .openapi('SharedConversation'),
)

const getSharedRoute = defineRoute({
  method: 'get',
  path: '/v1/shares/{token}',
  auth: 'public',
  operationId: 'getSharedConversation',
  tag: 'Conversations',
  summary: 'Read a shared conversation',
  answers: { 200: { description: 'Its title and times.', schema: SharedConversationObject } },
  errors: ['share_not_found', 'rate_limit_exceeded'],
  async handle(call) {
    const { row, share } = await openShared(call)
    return json(200, {
      object: 'shared_conversation',
      title: row.title,
      shared_at: new Date(share.createdAt).toISOString(),
      expires_at: new Date(share.expiresAt).toISOString(),
    })
  },
})

async function openShared({ deps, param, note }: Pick<Call, 'deps' | 'param' | 'note'>): Promise<SharedConversation> {
  const opened = await openShare(deps, param('token'))
  note('tenant', opened.row.tenant)
  note('share_id', opened.share.id)
  return opened
}

const renderShared = ({ content }: ConversationItem): Readonly<Record<string, unknown>> =>
  content.kind === 'wire' ? content.item : renderItem(content.item, { include: ['code_interpreter_call.outputs'] })

const listSharedItemsRoute = defineRoute({
  method: 'get',
  path: '/v1/shares/{token}/items',
  auth: 'public',
  operationId: 'listSharedItems',
  tag: 'Conversations',
  summary: 'List the items of a shared conversation',
  description: 'As they were when the link was made. Links to files are not included.',
  query: ListQuery,
  answers: { 200: { description: 'A page of items.', schema: listSchema(() => z.looseObject({ id: z.string() }), 'SharedItemList') } },
  errors: ['share_not_found', 'rate_limit_exceeded'],
  async handle(call) {
    const shared = await openShared(call)
    const { conversations } = call.deps.table
    const { tenant, id } = shared.row
    const { after, ...page } = pageOf(call.query)
    const edge = after === null ? null : await conversations.findItem(tenant, id, after)
    if (after !== null && edge === null) return json(200, listOf([], false))
    const { rows, hasMore } = await conversations.items(tenant, id, { ...page, after: edge?.position ?? null })
    const visible = rows.filter((item) => isShared(shared, item))
    return hideLinks(json(200, listOf(visible.map(renderShared), hasMore && (page.order === 'desc' || visible.length === rows.length))))
  },
})

const getSharedExecutionRoute = defineRoute({
  method: 'get',
  path: '/v1/shares/{token}/items/{item_id}/execution',
  auth: 'public',
  operationId: 'getSharedExecution',
  tag: 'Conversations',
  summary: 'Read the outputs of shared code',
  answers: {
    200: { description: 'How the code ended, and its outputs.', schema: () => z.looseObject({ id: z.string(), status: z.string() }) },
  },
  errors: ['share_not_found', 'rate_limit_exceeded', 'too_many_results'],
  async handle(call) {
    const shared = await openShared(call)
    const { deps, publicUrl } = call
    const { tenant, subject, id } = shared.row
    const item = await deps.table.conversations.findItem(tenant, id, call.param('item_id'))
    const executionId = item === null || !isShared(shared, item) ? undefined : executionIdOf(renderShared(item))
    // A client can name any execution in an item that it adds: it must be of the same end user.
    const reader = { deps, caller: { tenant, subject, keyId: '', scopes: ['read' as const] } }
    const row = await executionOf(reader, executionId ?? '', 'read').catch((cause: unknown) => {
      throw cause instanceof ServiceError ? shareMissing() : cause
    })
    const whole = await renderWork(deps, row, { fields: executionFields, publicUrl, caller: { scopes: [] }, isWhole: true })
    const { status, reason, outputs, cells, stdout, stderr, usage } = whole
    return hideLinks(json(200, { id: row.id, status, reason, outputs, cells, stdout, stderr, usage, files: [], lost: [] }))
  },
})

function executionIdOf(item: Readonly<Record<string, unknown>>): string | undefined {
  const found = (item['x_cellblock'] as { readonly execution_id?: unknown } | null | undefined)?.execution_id
  return item['type'] === 'code_interpreter_call' && typeof found === 'string' ? found : undefined
}

export const shareRoutes: readonly AnyRoute[] = [
  createShareRoute,
  listSharesRoute,
  revokeShareRoute,
  getSharedRoute,
  listSharedItemsRoute,
  getSharedExecutionRoute,
]
