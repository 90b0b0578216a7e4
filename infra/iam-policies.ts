import { consumeAccess, keyAccess, objectAccess, sendAccess, tableAccess, type IamAccess } from './iam-statements.ts'
import type { DataResources } from './data-resources.ts'

/** Exports of tenants lie outside of their objects: workers with user data do not reach them. */
const WITH_EXPORTS = ['tenants/*', 'exports/*']

/** Handles requests: rows, files and the first message of a job. It reads no model key, connects to no sandbox and starts none. */
export const apiAccess = (
  data: DataResources,
  { originSecretArn, siteObjects }: { readonly originSecretArn: string; readonly siteObjects: readonly string[] },
): readonly IamAccess[] => [
  // A scan exports a tenant that was created before the index of tenants.
  tableAccess(data, ['Scan', 'GetItem', 'BatchGetItem', 'Query', 'PutItem', 'UpdateItem', 'DeleteItem', 'BatchWriteItem']),
  ...objectAccess(data, ['GetObject', 'PutObject', 'DeleteObject', 'AbortMultipartUpload'], WITH_EXPORTS),
  sendAccess(data, ['turns', 'executions', 'placements']),
  // `/readyz` checks that each queue exists.
  { actions: ['sqs:GetQueueAttributes'], resources: Object.values(data.queues).map(({ queue }) => queue.queueArn) },
  keyAccess(data, ['dynamodb', 's3']),
  { actions: ['secretsmanager:GetSecretValue'], resources: [originSecretArn] },
  // The files of the page, which the API serves with their security headers.
  { actions: ['s3:GetObject'], resources: siteObjects },
]

/** Calls models and no sandbox. The only reader of the model keys. */
export const chatAccess = (data: DataResources): readonly IamAccess[] => [
  consumeAccess([data.queues.turns.queue]),
  // It deletes the file of a message whose container was deleted meanwhile.
  tableAccess(data, ['GetItem', 'BatchGetItem', 'Query', 'PutItem', 'UpdateItem', 'DeleteItem', 'BatchWriteItem']),
  ...objectAccess(data, ['GetObject', 'PutObject', 'DeleteObject', 'AbortMultipartUpload']),
  sendAccess(data, ['turns', 'executions']),
  keyAccess(data, ['dynamodb', 's3', 'secretsmanager']),
  { actions: ['secretsmanager:GetSecretValue'], resources: [data.modelsSecret.secretArn] },
]

export interface RunAccess {
  readonly table: IamAccess
  readonly objects: readonly IamAccess[]
  readonly send: IamAccess
  readonly all: readonly IamAccess[]
}

/** Connects to sandboxes. It starts none and calls no model. */
export function runAccess(data: DataResources): RunAccess {
  const table = tableAccess(data, ['GetItem', 'BatchGetItem', 'Query', 'PutItem', 'UpdateItem', 'DeleteItem'])
  const objects = objectAccess(data, ['GetObject', 'PutObject', 'DeleteObject', 'AbortMultipartUpload'])
  const send = sendAccess(data, ['turns', 'executions', 'placements'])
  return {
    table,
    objects,
    send,
    all: [consumeAccess([data.queues.executions.queue]), table, ...objects, send, keyAccess(data, ['dynamodb', 's3'])],
  }
}

/** Permissions on ECS, for starting and for watching tasks. */
export interface ComputeAccess {
  readonly start: readonly IamAccess[]
  readonly watch: readonly IamAccess[]
}

/** Starts, watches and stops sandboxes. It reads no object and no model key, and connects to no sandbox. */
export const placeAccess = (data: DataResources, compute: ComputeAccess): readonly IamAccess[] => [
  consumeAccess([data.queues.placements.queue]),
  tableAccess(data, ['GetItem', 'Query', 'PutItem', 'UpdateItem', 'DeleteItem']),
  sendAccess(data, ['executions', 'placements']),
  keyAccess(data, ['dynamodb']),
  ...compute.start,
  ...compute.watch,
]

/** Repairs jobs, stops orphaned sandboxes, deletes expired objects and ends dead-lettered jobs. It starts no sandbox. */
export const reconcilerAccess = (data: DataResources, compute: ComputeAccess): readonly IamAccess[] => [
  consumeAccess(Object.values(data.queues).map(({ deadLetterQueue }) => deadLetterQueue)),
  // A scan finds the rows of a deleted tenant that was created before the index of tenants.
  tableAccess(data, ['Scan', 'GetItem', 'BatchGetItem', 'Query', 'PutItem', 'UpdateItem', 'DeleteItem', 'BatchWriteItem']),
  ...objectAccess(data, ['GetObject', 'PutObject', 'DeleteObject'], WITH_EXPORTS),
  sendAccess(data, ['turns', 'executions', 'placements']),
  keyAccess(data, ['dynamodb', 's3']),
  ...compute.watch,
]

/** Serves the network of containers: it reads their rows and opens secrets. It reads no object and no model key, and sends no message. */
export const gatewayAccess = (data: DataResources, keysArn: string): readonly IamAccess[] => [
  tableAccess(data, ['GetItem', 'Query', 'PutItem', 'UpdateItem', 'DeleteItem']),
  keyAccess(data, ['dynamodb', 'secretsmanager']),
  // It makes its keys at its first start.
  { actions: ['secretsmanager:GetSecretValue', 'secretsmanager:PutSecretValue'], resources: [keysArn] },
]
