import { describe, expect, it } from 'vitest'
import type { Container } from '../../../services/model/containers/container.ts'
import { nextAction, type ExecutionView } from '../../../services/workers/run/step/next-action.ts'
import { containerRow } from '../../support/rows.ts'

const NOW = 2_000_000
const view = (change: Partial<ExecutionView> = {}): ExecutionView => ({
  tenant: 't',
  id: 'exec_1',
  fence: 0,
  createdAt: NOW,
  sandboxId: null,
  cancelRequestedAt: null,
  ...change,
})
const container = (change: Partial<Container> = {}): Container => containerRow({ queue: ['exec_1'], ...change })
const hibernating = (expiresAt: number) => ({ objectKey: 'k', expiresAt })
const kindOf = (execution: Partial<ExecutionView>, row: Partial<Container> | null): string =>
  nextAction(view(execution), row === null ? null : container(row), NOW).kind

describe('the next action of an execution', () => {
  it.each([
    ['the head of a container runs', {}, {}, 'run'],
    ['code that was sent is resumed', { sandboxId: 'sb_1' }, {}, 'resume'],
    ['code that was sent is resumed even when its cancellation was requested', { sandboxId: 'sb_1', cancelRequestedAt: 1 }, {}, 'resume'],
    ['a cancelled execution ends before it starts', { cancelRequestedAt: 1 }, {}, 'end_cancelled'],
    ['an execution of a deleted container ends', {}, { deletedAt: 1 }, 'end_cancelled'],
    ['an execution of a removed container ends', {}, null, 'end_cancelled'],
    ['an execution outside its queue joins it', {}, { queue: [] }, 'join_queue'],
    ['an execution outside a used queue joins it', {}, { queue: ['exec_0'] }, 'join_queue'],
    ['a queued execution waits for its predecessor', {}, { queue: ['exec_0', 'exec_1'] }, 'wait'],
    ['a cancelled execution behind the head waits too', { cancelRequestedAt: 1 }, { queue: ['exec_0', 'exec_1'] }, 'wait'],
    ['one that waited ten seconds checks the head', { createdAt: NOW - 10_000 }, { queue: ['exec_0', 'exec_1'] }, 'check_queue_head'],
    ['code waits while variables are being saved', {}, { hibernating: hibernating(NOW + 1) }, 'wait'],
    ['a hibernation whose worker stopped is ended', {}, { hibernating: hibernating(NOW) }, 'end_hibernation'],
  ] as const)('%s', (_, execution, row, kind) => {
    expect(kindOf(execution, row)).toBe(kind)
  })
})

describe('the next action of a command', () => {
  const id = 'cmd_01kajv9h2s8p0ww3d4dq4cs1zt'
  const live = { sandboxId: 'sb_1', commands: [id], queue: ['exec_0'] }
  const action = (command: Partial<ExecutionView>, row: Partial<Container> | null): string => kindOf({ id, ...command }, row)

  it.each([
    ['runs beside the queue in a sandbox with all files', {}, live, 'run'],
    ['in the background runs as well', {}, { ...live, commands: [], backgroundCommands: [id] }, 'run'],
    ['outside the list of commands joins it', {}, { ...live, commands: [] }, 'join_beside'],
    ['without a sandbox joins the queue', {}, { ...live, sandboxId: null }, 'run'],
    ['without a sandbox waits in the queue', {}, { ...live, sandboxId: null, queue: ['exec_0', id] }, 'wait'],
    ['at the head of the queue prepares the sandbox', {}, { ...live, sandboxId: null, queue: [id] }, 'run'],
    ['waits behind the head for uploaded files', {}, { ...live, filesVersion: 2, syncedFilesVersion: 1, queue: ['exec_0', id] }, 'wait'],
    ['that runs is resumed', { sandboxId: 'sb_1' }, live, 'resume'],
    ['that runs leaves the head of the queue', { sandboxId: 'sb_1' }, { ...live, queue: [id] }, 'leave_queue'],
    ['that was cancelled ends before it starts', { cancelRequestedAt: 1 }, live, 'end_cancelled'],
    ['waits while variables are being saved', {}, { ...live, hibernating: hibernating(NOW + 1) }, 'wait'],
    ['of a deleted container ends', {}, { ...live, deletedAt: 1 }, 'end_cancelled'],
  ] as const)('%s', (_, command, row, kind) => {
    expect(action(command, row as Partial<Container>)).toBe(kind)
  })
})
