import type { Edit } from '../../security/mutants/copy-project.ts'

/** A guarantee, the edit that breaks it, and the scenario that must fail then. */
export interface ChaosMutant {
  readonly what: string
  readonly edit: Edit
  readonly scenario: string
}

const LEASED = 'services/storage/rows/leased-store.ts'
const RUN_STEP = 'services/orchestrator/run/run-step.ts'
const RUN = 'services/orchestrator/run/run-in-sandbox.ts'

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
    edit: { file: RUN_STEP, find: 'if (row.sandboxId !== null) return this.#resume(container)\n', replace: '' },
    scenario: 'sandbox-crashes',
  },
  {
    what: 'a sandbox that disappears after it received the code counts as lost',
    edit: { file: RUN, find: "if (cause.kind === 'broken') wasHandedOver = true", replace: 'wasHandedOver = false' },
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
      file: RUN,
      find: 'isResumed ? await fenceRunning(deps, row) : null',
      replace: 'isResumed ? await deps.table.events.last(owner) : null',
    },
    scenario: 'races',
  },
  {
    what: "a successor fences a response's event log before it ends the response",
    edit: { file: 'services/chat/turn/end-turn.ts', find: '  await turn.seal()\n', replace: '' },
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
    edit: { file: RUN_STEP, find: 'if (container.queue[0] !== row.id) return this.#rejoin(container)\n', replace: '' },
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
