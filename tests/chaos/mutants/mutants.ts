import type { Edit } from '../../security/copy-project.ts'

export type ChaosStorageKind = 'embedded' | 'aws'

/** A guarantee, the edit that breaks it, and the scenario that must fail then. */
export interface ChaosMutant {
  readonly what: string
  readonly edit: Edit
  readonly scenario: string
  /** The storage that has the edited code; both if absent. */
  readonly only?: ChaosStorageKind
}

const LEASED = 'services/adapters/storage/rows/leased-store.ts'
const NEXT_ACTION = 'services/workers/run/step/next-action.ts'

export const CHAOS_MUTANTS: readonly ChaosMutant[] = [
  {
    what: 'a commit checks the fencing token',
    edit: { file: LEASED, find: "const isMine = all(isLive, equals('fence', row.fence))", replace: 'const isMine = isLive' },
    scenario: 'races',
  },
  {
    // The row as it was read excludes an ended row as well, so this edit removes both conditions.
    what: 'an ended job grants no lease',
    edit: {
      file: LEASED,
      find: 'const mayTake = all(isLive, ...(seen.fence === 0 ? [] : [isFree]), ...isAsSeen)',
      replace: 'const mayTake = seen.fence === 0 ? all() : isFree',
    },
    scenario: 'races',
  },
  {
    what: 'submitted code is resumed, not submitted to another sandbox',
    edit: { file: NEXT_ACTION, find: "if (execution.sandboxId !== null) return { kind: 'resume', container }\n", replace: '' },
    scenario: 'sandbox-crashes',
  },
  {
    what: 'a sandbox that disappears after it received the code counts as lost',
    edit: {
      file: 'services/workers/run/stream/stream-execution.ts',
      find: "if (cause.kind === 'broken') isSent = true",
      replace: 'isSent = false',
    },
    scenario: 'sandbox-crashes',
  },
  {
    what: 'an event log position is written once',
    edit: {
      file: 'services/adapters/storage/rows/event-store.ts',
      find: "...source, ...body }, absent('pk'))",
      replace: '...source, ...body })',
    },
    scenario: 'races',
  },
  {
    what: 'a successor fences the event log before it resumes',
    edit: {
      file: 'services/workers/run/stream/execution-log.ts',
      find: '? await fenceEventLog<ExecutionProgressPayload>({ events: table.events, clock }, owner, { fence: row.fence, payload: RUNNING })',
      replace: '? await table.events.last(owner)',
    },
    scenario: 'races',
  },
  {
    what: 'the log has no "done", which only the row that ends contains',
    edit: {
      file: 'services/operations/executions/end-execution.ts',
      find: 'const tailEvents: readonly ExecutionEvent[] = [...end.tail.events, done]\n',
      replace: `const all = [...end.tail.events, done]
  const isLarge = end.tail.events.length === 0
  const owner = { kind: 'execution', tenant: row.tenant, id: row.id }
  if (isLarge) await deps.table.events.append(owner, { firstSeq: end.tail.nextSeq, events: all, fence: row.fence, sourceSeq: null })
  const tailEvents = isLarge ? [] : all
`,
    },
    scenario: 'crash-at-end',
  },
  {
    what: "a successor fences a response's event log before it commits the row",
    edit: {
      file: 'services/workers/turn/turn-log.ts',
      find: 'return !hasEventStream(this.#row) || isCheckpointed(this.#row) || this.writtenSeq > this.#firstSeq',
      replace: 'return true',
    },
    scenario: 'turns',
  },
  {
    what: 'only the queue head is dequeued',
    edit: {
      file: 'services/adapters/storage/rows/container-store.ts',
      find: "items.update(keyOf(tenant, id), actions, { condition: equals('queue[0]', executionId), isDeferred: true })",
      replace: "items.update(keyOf(tenant, id), actions, { condition: exists('queue[0]') })",
    },
    scenario: 'duplicates',
  },
  {
    what: "only the head of a container's queue runs",
    edit: {
      file: NEXT_ACTION,
      find: 'if (container.queue[0] !== execution.id) return actionBehindHead(execution, container, now)\n',
      replace: '',
    },
    scenario: 'duplicates',
  },
  {
    what: 'a warm sandbox is claimed once',
    edit: {
      file: 'services/adapters/storage/rows/sandbox-store.ts',
      find: "const mayClaim = all(equals('state', READY), any(absent('claimedBy'), isMine))",
      replace: "const mayClaim = any(equals('state', READY), absent('claimedBy'), isMine, equals('state', 'claimed'))",
    },
    scenario: 'rival-claims',
  },
  {
    what: 'RunTask uses the sandbox id as its client token',
    edit: {
      file: 'services/adapters/drivers/fargate/fargate-driver.ts',
      find: '  clientToken: spec.sandboxId,\n',
      replace: '  clientToken: String(Math.random()),\n',
    },
    scenario: 'run-task',
  },
  {
    what: 'the reconciler repairs due rows',
    edit: {
      file: 'services/workers/reconcile/reconcile.ts',
      find: 'for await (const rows of duePages(deps)) {',
      replace: 'for await (const rows of [] as DueRow[][]) {',
    },
    scenario: 'worker-crashes',
  },
  {
    what: "a deleted container's objects are deleted",
    edit: {
      file: 'services/workers/reconcile/repair-container.ts',
      find: '  await deps.objects.deletePrefix(objectPrefix(tenant, id))\n  await containers.remove',
      replace: '  await containers.remove',
    },
    scenario: 'cancel-delete',
  },
  {
    what: 'SQLite writes nothing when the condition of an update does not hold',
    edit: {
      file: 'services/adapters/storage/sqlite/sqlite-items.ts',
      find: '      if (!holds(before, condition)) return null\n',
      replace: '',
    },
    scenario: 'races',
    only: 'embedded',
  },
  {
    what: 'a lease in SQLite ends',
    edit: {
      file: 'services/adapters/storage/sqlite/evaluate.ts',
      find: "operator === '<' ? difference < 0 : operator === '>' ? difference > 0 : difference <= 0",
      replace: "operator === '<' ? difference < 0 : operator === '>' ? difference > 0 : false",
    },
    scenario: 'worker-crashes',
    only: 'embedded',
  },
  {
    what: 'SQLite creates a row only once',
    edit: {
      file: 'services/adapters/storage/sqlite/sqlite-items.ts',
      find: '      if (condition !== undefined && !holds(before, condition)) return false\n',
      replace: '',
    },
    scenario: 'races',
    only: 'embedded',
  },
  {
    what: 'the in-process queue redelivers a message whose handler failed',
    edit: {
      file: 'services/adapters/storage/memory-queue/memory-queue.ts',
      find: 'if (entry.receives < MAX_RECEIVES) this.#addLater(channel, entry, backOffSeconds(entry.receives))',
      replace: 'if (entry.receives < MAX_RECEIVES) return',
    },
    scenario: 'poison-messages',
    only: 'embedded',
  },
  {
    what: 'the in-process queue sends a message that always fails to the dead letters',
    edit: {
      file: 'services/adapters/storage/memory-queue/memory-queue.ts',
      find: '        channel.deadLetters.add(entry.group, entry)\n        channel.deadLetterConsumers.wake()\n      }\n    } finally {',
      replace: '      }\n    } finally {',
    },
    scenario: 'poison-messages',
    only: 'embedded',
  },
  {
    what: 'deleting a prefix deletes every file below it',
    edit: {
      file: 'services/adapters/storage/files/object-folder.ts',
      find: '      await this.delete(key)\n',
      replace: '',
    },
    scenario: 'cancel-delete',
    only: 'embedded',
  },
  {
    what: 'DynamoDB gets the condition of an update',
    edit: {
      file: 'services/adapters/storage/dynamodb/dynamo-items.ts',
      find: '        ConditionExpression,\n',
      replace: '',
    },
    scenario: 'races',
    only: 'aws',
  },
  {
    what: 'SQS keeps a message until its handler has succeeded',
    edit: {
      file: 'services/adapters/storage/sqs/consumer.ts',
      find: '    await handler(parseMessage(queue, Body), delivery)\n',
      replace:
        '    await client.send(new DeleteMessageCommand({ QueueUrl: queueUrl, ReceiptHandle }))\n    await handler(parseMessage(queue, Body), delivery)\n',
    },
    scenario: 'poison-messages',
    only: 'aws',
  },
]
