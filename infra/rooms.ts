import { consumeAccess, keyAccess, objectAccess, sendAccess, tableAccess, type Access } from './access.ts'
import type { DataStack } from './stacks/data-stack.ts'

/** Takes requests: rows, files and the first message of a job. It reads no model key, reaches no sandbox and starts none. */
export const apiAccess = (data: DataStack, originSecretArn: string): readonly Access[] => [
  tableAccess(data, ['GetItem', 'BatchGetItem', 'Query', 'PutItem', 'UpdateItem', 'DeleteItem', 'BatchWriteItem']),
  ...objectAccess(data, ['GetObject', 'PutObject', 'DeleteObject', 'AbortMultipartUpload']),
  sendAccess(data, ['turns', 'executions', 'placements']),
  // `/readyz` asks each queue whether it is there.
  { actions: ['sqs:GetQueueAttributes'], resources: Object.values(data.queues).map(({ queue }) => queue.queueArn) },
  keyAccess(data, ['dynamodb', 's3']),
  { actions: ['secretsmanager:GetSecretValue'], resources: [originSecretArn] },
]

/** Talks to models and to nothing that runs code. The only reader of the model keys. */
export const chatAccess = (data: DataStack): readonly Access[] => [
  consumeAccess([data.queues.turns.queue]),
  // It takes back the file of a message whose container was deleted meanwhile.
  tableAccess(data, ['GetItem', 'BatchGetItem', 'Query', 'PutItem', 'UpdateItem', 'DeleteItem', 'BatchWriteItem']),
  ...objectAccess(data, ['GetObject', 'PutObject', 'DeleteObject', 'AbortMultipartUpload']),
  sendAccess(data, ['turns', 'executions']),
  keyAccess(data, ['dynamodb', 's3', 'secretsmanager']),
  { actions: ['secretsmanager:GetSecretValue'], resources: [data.modelsSecret.secretArn] },
]

export interface RunAccess {
  readonly table: Access
  readonly objects: readonly Access[]
  readonly send: Access
  readonly all: readonly Access[]
}

/** Reaches sandboxes. It starts none and knows no model. */
export function runAccess(data: DataStack): RunAccess {
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

/** What of the compute API a worker gets. */
export interface ComputeAccess {
  readonly start: readonly Access[]
  readonly watch: readonly Access[]
}

/** Starts, watches and stops sandboxes. It sees no object, no model key and reaches no sandbox. */
export const placeAccess = (data: DataStack, compute: ComputeAccess): readonly Access[] => [
  consumeAccess([data.queues.placements.queue]),
  tableAccess(data, ['GetItem', 'Query', 'PutItem', 'UpdateItem', 'DeleteItem']),
  sendAccess(data, ['executions', 'placements']),
  keyAccess(data, ['dynamodb']),
  ...compute.start,
  ...compute.watch,
]

/** Finds what was left behind: rows, sandboxes, objects, messages that nobody could work on. It starts nothing. */
export const reconcilerAccess = (data: DataStack, compute: ComputeAccess): readonly Access[] => [
  consumeAccess(Object.values(data.queues).map(({ dead }) => dead)),
  tableAccess(data, ['GetItem', 'BatchGetItem', 'Query', 'PutItem', 'UpdateItem', 'DeleteItem', 'BatchWriteItem']),
  ...objectAccess(data, ['GetObject', 'PutObject', 'DeleteObject']),
  sendAccess(data, ['turns', 'executions', 'placements']),
  keyAccess(data, ['dynamodb', 's3']),
  ...compute.watch,
]
