import { changeByCompareAndSet } from '../../model/change-by-compare-and-set.ts'
import { isSuspended } from '../../model/containers/container.ts'
import { ServiceError } from '../../model/errors.ts'
import { topicOf, type CommandInputEvent, type CommandInputPayload, type EventBatch, type EventOwner } from '../../model/events.ts'
import { hasEnded, type Execution } from '../../model/executions/execution.ts'
import { LIMITS } from '../../model/limits.ts'
import type { EventStore } from '../../ports/event-store.ts'
import type { Table } from '../../ports/table.ts'
import type { Signals } from '../../ports/signals.ts'
import { resumeContainer, type SuspendPorts } from '../containers/suspend-container.ts'

export interface InputPorts extends SuspendPorts {
  readonly table: SuspendPorts['table'] & Pick<Table, 'events'>
  readonly signals: Signals
}

/**
 * Appends to the input of a running command: data, the end of the input, a signal or a size. The worker that holds the command sends it to the
 * sandbox, once and in this order. A suspended sandbox is resumed first. Throws ServiceError `conflict` when the command has ended or does not accept this
 * input, and what a resumption throws.
 */
export async function sendCommandInput(deps: InputPorts, row: Execution, input: CommandInputPayload): Promise<void> {
  checkInput(row, input)
  if (deps.canSuspend === true) await resumeContainerOf(deps, row)
  const owner: EventOwner = { kind: 'input', tenant: row.tenant, id: row.id }
  const { events } = deps.table
  // Concurrent callers compete for numbers; each attempt uses the next free one.
  await changeByCompareAndSet(
    async () => {
      const last = inputOf(await events.last(owner)).at(-1)
      const firstSeq = (last?.seq ?? -1) + 1
      const total = (last?.total ?? 0) + lengthOf(input)
      if (input.type === 'stdin') await checkPending(events, owner, total)
      const event: CommandInputEvent = { seq: firstSeq, at: deps.clock.now(), total, ...input }
      return (await events.append(owner, { firstSeq, events: [event], fence: 0, sourceSeq: null })) ? event : undefined
    },
    () => new ServiceError('conflict', `Too many calls send input to ${row.id} at the same time. Send one after another.`),
  )
  deps.signals.notify(topicOf('input', row.id))
}

/** A command in a suspended container could not read it. */
async function resumeContainerOf(deps: InputPorts, { tenant, containerId }: Execution): Promise<void> {
  const container = await deps.table.containers.get(tenant, containerId)
  if (container !== null && isSuspended(container)) await resumeContainer(deps, container)
}

/** The log has only input. */
const inputOf = (batch: EventBatch | null): readonly CommandInputEvent[] => (batch?.events ?? []) as readonly CommandInputEvent[]
const lengthOf = (input: CommandInputPayload): number => (input.type === 'stdin' ? input.data.length : 0)

/** The worker removes the input that the sandbox has accepted, so the first event that remains tells what waits. */
async function checkPending(events: EventStore, owner: EventOwner, total: number): Promise<void> {
  // A short log needs no second read.
  if (total * 0.75 <= LIMITS.maxPendingInputBytes) return
  const [first] = inputOf(await events.first(owner))
  const before = first === undefined ? total : first.total - lengthOf(first)
  if ((total - before) * 0.75 > LIMITS.maxPendingInputBytes)
    throw new ServiceError(
      'conflict',
      `${owner.id} has ${LIMITS.maxPendingInputBytes} bytes of input that its program has not read, the maximum. Send more when it has read some.`,
    )
}

function checkInput(row: Execution, input: CommandInputPayload): void {
  const { source } = row
  if (source.kind !== 'command' || hasEnded(row.status))
    throw new ServiceError('conflict', `${row.id} has ended (${row.status}), so it accepts no input. Run it again.`)
  if ((input.type === 'stdin' || input.type === 'close') && !source.hasOpenInput && source.pty === null)
    throw new ServiceError('conflict', `${row.id} was started without open input. Start it with "stdin": "open" or with a pty.`)
  if (input.type === 'resize' && source.pty === null) throw new ServiceError('conflict', `${row.id} has no terminal. Start it with a pty.`)
  if (input.type === 'stdin' && input.data.length * 0.75 > LIMITS.maxCommandInputBytes)
    throw new ServiceError(
      'request_too_large',
      `The input is larger than ${LIMITS.maxCommandInputBytes} bytes, the maximum of one call. Send it in parts.`,
    )
}
