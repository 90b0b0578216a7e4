import type { Edit } from '../../security/mutants/copy-project.ts'

/** A guarantee, the edit that breaks it, and the scenario that must fail then. */
export interface ChaosMutant {
  readonly what: string
  readonly edit: Edit
  readonly scenario: string
}

const LEASED = 'services/storage/rows/leased-store.ts'
const NEXT_ACTION = 'services/orchestrator/run/next-action.ts'

export const CHAOS_MUTANTS: readonly ChaosMutant[] = [
  {
    what: 'a commit checks the fencing token',
    edit: { file: LEASED, find: "const isMine = all(isLive, equals('fence', fence))", replace: 'const isMine = isLive' },
    scenario: 'races',
  },
  {
    what: 'an ended job grants no lease',
    edit: { file: LEASED, find: 'const mayTake = all(isLive, ', replace: 'const mayTake = all(' },
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
      file: 'services/orchestrator/run/stream-execution.ts',
      find: "if (cause.kind === 'broken') isSent = true",
      replace: 'isSent = false',
    },
    scenario: 'sandbox-crashes',
  },
  {
    what: 'an event log position is written once',
    edit: {
      file: 'services/storage/rows/event-store.ts',
      find: "...source, ...body }, absent('pk'))",
      replace: '...source, ...body })',
    },
    scenario: 'races',
  },
  {
    what: 'a successor fences the event log before it resumes',
    edit: {
      file: 'services/orchestrator/run/execution-log.ts',
      find: '? await fenceEventLog<ExecutionEventPayload>({ events: table.events, clock }, owner, row.fence, { payload: RUNNING })',
      replace: '? await table.events.last(owner)',
    },
    scenario: 'races',
  },
  {
    what: "a successor fences a response's event log before it ends the response",
    edit: { file: 'services/chat/turn/end-turn.ts', find: '  await turn.log.fence()\n', replace: '' },
    scenario: 'turns',
  },
  {
    what: 'only the queue head is dequeued',
    edit: {
      file: 'services/storage/rows/container-store.ts',
      find: "items.update(keyOf(tenant, id), actions, equals('queue[0]', executionId))",
      replace: "items.update(keyOf(tenant, id), actions, exists('queue[0]'))",
    },
    scenario: 'duplicates',
  },
  {
    what: "only the head of a container's queue runs",
    edit: {
      file: NEXT_ACTION,
      find: 'if (container.queue[0] !== execution.id) return queueAction(execution, container, now)\n',
      replace: '',
    },
    scenario: 'duplicates',
  },
  {
    what: 'a warm sandbox is claimed once',
    edit: {
      file: 'services/storage/rows/sandbox-store.ts',
      find: "const mayClaim = all(equals('state', READY), any(absent('claimedBy'), isMine))",
      replace: "const mayClaim = any(equals('state', READY), absent('claimedBy'), isMine, equals('state', 'claimed'))",
    },
    scenario: 'races',
  },
  {
    what: 'RunTask uses the sandbox id as its client token',
    edit: {
      file: 'services/orchestrator/drivers/fargate/fargate-driver.ts',
      find: '  clientToken: spec.sandboxId,\n',
      replace: '  clientToken: String(Math.random()),\n',
    },
    scenario: 'run-task',
  },
  {
    what: 'the reconciler repairs due rows',
    edit: {
      file: 'services/orchestrator/reconciler/reconcile.ts',
      find: 'for await (const rows of duePages(deps)) {',
      replace: 'for await (const rows of [] as DueRow[][]) {',
    },
    scenario: 'worker-crashes',
  },
  {
    what: "a deleted container's objects are deleted",
    edit: {
      file: 'services/orchestrator/reconciler/repair-container.ts',
      find: '  await deps.objects.deletePrefix(objectPrefix(tenant, id))\n  await containers.remove',
      replace: '  await containers.remove',
    },
    scenario: 'cancel-delete',
  },
]
