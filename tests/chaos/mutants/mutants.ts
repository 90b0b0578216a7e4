import type { Edit } from '../../security/mutants/copy-project.ts'

/** A guarantee that is broken on purpose, and the scenario that has to find it. */
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
    what: 'a commit looks at the fence',
    edit: { file: LEASED, find: "const isMine = all(isLive, equals('fence', fence))", replace: 'const isMine = isLive' },
    scenario: 'races',
  },
  {
    what: 'a job that has ended is not taken again',
    edit: { file: LEASED, find: 'const mayTake = all(isLive, ', replace: 'const mayTake = all(' },
    scenario: 'races',
  },
  {
    what: 'code that was handed over is followed, not handed to another sandbox',
    edit: { file: RUN_STEP, find: 'if (row.sandboxId !== null) return this.#resume(container)\n', replace: '' },
    scenario: 'sandbox-deaths',
  },
  {
    what: 'a sandbox that goes after it had the code is lost, not unreachable',
    edit: { file: RUN, find: "if (cause.kind === 'broken') wasHandedOver = true", replace: 'wasHandedOver = false' },
    scenario: 'sandbox-deaths',
  },
  {
    what: 'a place in an event log is written once',
    edit: {
      file: 'services/storage/rows/event-store.ts',
      find: "...source, ...body }, absent('pk'))",
      replace: '...source, ...body })',
    },
    scenario: 'races',
  },
  {
    what: 'a successor seals the event log before it goes on',
    edit: {
      file: RUN,
      find: "isResumed ? await sealLog(deps, row, { type: 'status', status: 'running' }) : null",
      replace: 'isResumed ? await deps.table.events.last(owner) : null',
    },
    scenario: 'races',
  },
  {
    what: "a successor takes the next place of a response's event log before it ends it",
    edit: { file: 'services/chat/turn/end-turn.ts', find: '  await turn.seal()\n', replace: '' },
    scenario: 'turns',
  },
  {
    what: 'only the head leaves a queue',
    edit: {
      file: 'services/storage/rows/container-store.ts',
      find: "items.update(keyOf(tenant, id), actions, equals('queue[0]', executionId))",
      replace: "items.update(keyOf(tenant, id), actions, exists('queue[0]'))",
    },
    scenario: 'duplicates',
  },
  {
    what: 'only the head of a container runs',
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
    what: 'the token of a start is the id of its sandbox',
    edit: {
      file: 'services/orchestrator/drivers/fargate/fargate-driver.ts',
      find: '  clientToken: spec.sandboxId,\n',
      replace: '  clientToken: String(Math.random()),\n',
    },
    scenario: 'run-task',
  },
  {
    what: 'the reconciler repairs what is due',
    edit: {
      file: 'services/orchestrator/reconciler/reconcile.ts',
      find: 'for await (const rows of duePages(deps)) {',
      replace: 'for await (const rows of [] as DueRow[][]) {',
    },
    scenario: 'deaths',
  },
  {
    what: 'what a deleted container stored is removed',
    edit: {
      file: 'services/orchestrator/reconciler/repair-container.ts',
      find: '  await deps.objects.deletePrefix(objectPrefix(tenant, id))\n  await containers.remove',
      replace: '  await containers.remove',
    },
    scenario: 'cancel-delete',
  },
]
