import type { Container } from '../../../model/containers/container.ts'
import type { Conversation } from '../../../model/conversations/conversation.ts'
import type { Execution } from '../../../model/executions/execution.ts'
import type { ContainerFile } from '../../../model/files/file.ts'
import type { Link } from '../../../model/links/link.ts'
import type { ResponseRecord } from '../../../model/responses/response.ts'
import type { Sandbox } from '../../../model/sandboxes/sandbox.ts'
import type { Skill } from '../../../model/skills/skill.ts'
import { DEFAULT_SCOPES, type ApiKey, type Plan, type Tenant } from '../../../model/tenants/tenant.ts'
import type { Upload, UploadPart } from '../../../model/files/upload.ts'
import type { UsageRecord } from '../../../model/usage/usage.ts'
import type { UserFile } from '../../../model/files/user-file.ts'
import type { StoredSecret } from '../../../model/network/secret.ts'
import type { Delivery } from '../../../model/webhooks/webhook.ts'
import { rowCodec } from './row-codec.ts'

export const executionCodec = rowCodec<Execution>({
  json: { source: true, scope: true, metadata: true, pauses: true, lostBefore: true, result: true, resultRef: true, tailEvents: true },
  nullable: {
    subject: true,
    responseId: true,
    reason: true,
    traceparent: true,
    startedAt: true,
    endedAt: true,
    cancelRequestedAt: true,
    stepsFailSince: true,
    lease: true,
    sandboxId: true,
    result: true,
    resultRef: true,
    dueAt: true,
  },
})

export const responseCodec = rowCodec<ResponseRecord>({
  json: {
    request: true,
    requestRef: true,
    items: true,
    itemsRef: true,
    pending: true,
    usage: true,
    error: true,
    contextCut: true,
    droppedParameters: true,
    tailEvents: true,
  },
  nullable: {
    subject: true,
    requestRef: true,
    previousResponseId: true,
    conversationId: true,
    containerId: true,
    itemsRef: true,
    pending: true,
    error: true,
    incompleteReason: true,
    contextCut: true,
    traceparent: true,
    completedAt: true,
    cancelRequestedAt: true,
    stepsFailSince: true,
    lease: true,
    dueAt: true,
  },
})

export const containerCodec = rowCodec<Container>({
  json: { limits: true, lostCommands: true, lostFiles: true, extensions: true, skills: true, network: true },
  nullable: {
    limits: true,
    image: true,
    subject: true,
    sandboxId: true,
    stateLost: true,
    snapshot: true,
    hibernating: true,
    deletedAt: true,
    dueAt: true,
  },
})

export const fileCodec = rowCodec<ContainerFile>({ json: {}, nullable: { sha256: true, executionId: true } })

export const userFileCodec = rowCodec<UserFile>({ json: {}, nullable: { subject: true, expiresAt: true } }, ['dueAt'])
export const skillCodec = rowCodec<Skill>({ json: { versions: true }, nullable: { subject: true } }, ['dueAt'])
export const uploadCodec = rowCodec<Upload>({ json: {}, nullable: { subject: true, fileSeconds: true } }, ['dueAt'])
export const uploadPartCodec = rowCodec<UploadPart>({ json: {}, nullable: {} })

export const conversationCodec = rowCodec<Conversation>({
  json: { metadata: true },
  nullable: { subject: true, title: true, archivedAt: true, containerId: true, deletedAt: true, dueAt: true },
})

export const sandboxCodec = rowCodec<Sandbox>({
  json: { limits: true, address: true, claimedBy: true, failedStart: true, checkpoint: true },
  nullable: {
    limits: true,
    imageName: true,
    address: true,
    claimedBy: true,
    readyAt: true,
    answeredAt: true,
    claimedAt: true,
    dueAt: true,
  },
})

export const usageCodec = rowCodec<UsageRecord>({ json: {}, nullable: { subject: true } })

export const deliveryCodec = rowCodec<Delivery>({
  json: { data: true, fanOut: true },
  nullable: {
    fanOut: true,
    lastStatusCode: true,
    lastError: true,
    endedAt: true,
    traceparent: true,
    cancelRequestedAt: true,
    stepsFailSince: true,
    lease: true,
    dueAt: true,
  },
})

export const tenantCodec = rowCodec<Tenant>({ json: { policy: true, deletion: true }, nullable: {} }, ['dueAt'])
export const planCodec = rowCodec<Plan>({ json: { limits: true }, nullable: {} })
export const apiKeyCodec = rowCodec<ApiKey>({
  json: { scopes: true },
  nullable: { name: true, subject: true, expiresAt: true, lastUsedAt: true, revokedAt: true },
  defaults: { scopes: DEFAULT_SCOPES },
})
export const secretCodec = rowCodec<StoredSecret>({ json: { hosts: true }, nullable: { subject: true, lastUsedAt: true } })
export const linkCodec = rowCodec<Link>({ json: { target: true }, nullable: { fileId: true, revokedAt: true } })
