import { describe, expect, it } from 'vitest'
import { FUNCTIONS, type FunctionId } from '../../infra/function-name.ts'
import { actions, list, type Statement } from './property.ts'
import { rights } from './properties/functions.ts'
import { synthesise } from './synthesise.ts'

const templates = synthesise()

const ROWS = [
  'dynamodb:BatchGetItem',
  'dynamodb:DeleteItem',
  'dynamodb:GetItem',
  'dynamodb:PutItem',
  'dynamodb:Query',
  'dynamodb:UpdateItem',
]
const CONSUME = ['sqs:ChangeMessageVisibility', 'sqs:DeleteMessage', 'sqs:GetQueueAttributes', 'sqs:ReceiveMessage']
const LOG = ['logs:CreateLogStream', 'logs:PutLogEvents']
const KEY = [
  'kms:Decrypt',
  'kms:DescribeKey',
  'kms:Encrypt',
  'kms:GenerateDataKey',
  'kms:GenerateDataKeyWithoutPlaintext',
  'kms:ReEncryptFrom',
  'kms:ReEncryptTo',
]
const TASKS = ['ecs:DescribeTasks', 'ecs:ListTasks', 'ecs:StopTask']
const OBJECTS = ['s3:AbortMultipartUpload', 's3:DeleteObject', 's3:GetObject', 's3:ListBucket', 's3:PutObject']
const INTERFACES = [
  'ec2:AssignPrivateIpAddresses',
  'ec2:CreateNetworkInterface',
  'ec2:DeleteNetworkInterface',
  'ec2:DescribeNetworkInterfaces',
  'ec2:DescribeSubnets',
  'ec2:UnassignPrivateIpAddresses',
]

/** Everything that each function may do. A right that is not written here does not exist. */
const MAY: Record<FunctionId, readonly string[]> = {
  api: [
    ...ROWS,
    'dynamodb:Scan',
    'dynamodb:BatchWriteItem',
    ...KEY,
    ...LOG,
    ...OBJECTS,
    'secretsmanager:GetSecretValue',
    'sqs:GetQueueAttributes',
    'sqs:SendMessage',
  ],
  chat: [...ROWS, 'dynamodb:BatchWriteItem', ...KEY, ...LOG, ...OBJECTS, 'secretsmanager:GetSecretValue', ...CONSUME, 'sqs:SendMessage'],
  run: [...ROWS, ...INTERFACES, ...KEY, ...LOG, ...OBJECTS, ...CONSUME, 'sqs:SendMessage'],
  place: [
    ...ROWS.filter((verb) => verb !== 'dynamodb:BatchGetItem'),
    ...TASKS,
    'ecs:RunTask',
    'ecs:TagResource',
    'iam:PassRole',
    ...KEY,
    ...LOG,
    ...CONSUME,
    'sqs:SendMessage',
  ],
  reconciler: [
    ...ROWS,
    'dynamodb:Scan',
    'dynamodb:BatchWriteItem',
    ...TASKS,
    ...KEY,
    ...LOG,
    ...OBJECTS.filter((verb) => verb !== 's3:AbortMultipartUpload'),
    ...CONSUME,
    'sqs:SendMessage',
  ],
}
/** The queues that each function may send to and read from. */
const QUEUES: Record<FunctionId, { readonly send: readonly string[]; readonly read: readonly string[] }> = {
  api: { send: ['executions', 'placements', 'turns'], read: [] },
  chat: { send: ['executions', 'turns'], read: ['turns'] },
  run: { send: ['executions', 'placements', 'turns'], read: ['executions'] },
  place: { send: ['executions', 'placements'], read: ['placements'] },
  reconciler: { send: ['executions', 'placements', 'turns'], read: ['executions-dead', 'placements-dead', 'turns-dead'] },
}

const allowed = (name: FunctionId): Statement[] => rights(templates, name).filter((s) => s.Effect === 'Allow')
const actionsOf = (name: FunctionId): string[] => [...new Set(allowed(name).flatMap(actions))].toSorted()
const queuesFor = (name: FunctionId, action: string): string[] =>
  allowed(name)
    .filter((s) => actions(s).includes(action))
    .flatMap((s) => list(s.Resource))
    .map(queueName)
    .toSorted()
const queueName = (resource: unknown): string =>
  /ExportsOutputFnGetAtt(\w+?)queue(Dead)?/.exec(JSON.stringify(resource))?.slice(1).filter(Boolean).join('-').toLowerCase() ??
  JSON.stringify(resource)

describe.each(FUNCTIONS)('%s', (name) => {
  it('has exactly the permissions of its service', () => {
    expect(actionsOf(name)).toEqual([...new Set(MAY[name])].toSorted())
  })
  it('sends to and reads from exactly its queues', () => {
    expect({ send: queuesFor(name, 'sqs:SendMessage'), read: queuesFor(name, 'sqs:ReceiveMessage') }).toEqual(QUEUES[name])
  })
  it('names the resources of each right, except where AWS knows none', () => {
    const unnamed = allowed(name)
      .filter((s) => list(s.Resource).includes('*'))
      .flatMap(actions)
    const excused = [...INTERFACES, 'ecs:ListTasks']
    expect(unnamed.filter((action) => !excused.includes(action))).toEqual([])
  })
})

it.each(FUNCTIONS)('fails for an additional permission: %s', (name) => {
  const before = actionsOf(name)
  allowed(name)[0]!.Action = [...actions(allowed(name)[0]!), 's3:PutBucketPolicy']
  expect(actionsOf(name)).not.toEqual(before)
})
