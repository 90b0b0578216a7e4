import * as z from 'zod'
import type { EventPayload } from '../../events.ts'
import { argumentsOf, itemAdded, itemEvent, NO_OPTIONS, textOf, type CallType, type Wire } from './item-type.ts'

/** The wire's type of the tool, and what the model calls it. */
export const SHELL = 'shell'
const COMMAND = 'response.shell_call_command'

export type ShellStatus = 'in_progress' | 'completed' | 'incomplete'

/** Command lines that the model wants to run. The results are another item, which names the same `callId`. */
export interface ShellCallItem {
  readonly type: 'shell_call'
  readonly id: string
  readonly callId: string
  /** Null: the caller runs the commands and answers with the next request. */
  readonly containerId: string | null
  /** JSON as the model wrote it. */
  readonly arguments: string
  readonly status: ShellStatus
}

export interface ShellAction {
  readonly commands: readonly string[]
  readonly timeoutMs: number | null
  readonly maxOutputLength: number | null
}

export const shellCall: CallType<ShellCallItem> = {
  type: 'shell_call',
  idKind: 'shellCall',
  toolName: SHELL,
  begin: ({ id, callId, containerId }) => ({ type: 'shell_call', id, callId, containerId, arguments: '', status: 'in_progress' }),
  close(item, args, isWhole) {
    const status = !isWhole ? 'incomplete' : item.containerId === null ? 'completed' : 'in_progress'
    return { ...item, arguments: args, status }
  },
  wireFields: () => ({
    call_id: z.string(),
    action: z.object({
      commands: z.array(z.string()),
      timeout_ms: z.int().nullable(),
      max_output_length: z.int().nullable(),
    }),
    environment: z.discriminatedUnion('type', [
      z.object({ type: z.literal('local') }),
      z.object({ type: z.literal('container_reference'), container_id: z.string() }),
    ]),
  }),
  render(item) {
    const { commands, timeoutMs, maxOutputLength } = shellAction(argumentsOf(item.arguments))
    return {
      id: item.id,
      type: item.type,
      call_id: item.callId,
      status: item.status,
      action: { commands, timeout_ms: timeoutMs, max_output_length: maxOutputLength },
      environment: item.containerId === null ? { type: 'local' } : { type: 'container_reference', container_id: item.containerId },
    }
  },
  parse(wire) {
    const containerId = environmentOf(wire)['container_id']
    return {
      type: 'shell_call',
      id: String(wire['id']),
      callId: String(wire['call_id']),
      status: wire['status'] as ShellStatus,
      containerId: typeof containerId === 'string' ? containerId : null,
      arguments: JSON.stringify(wire['action']),
    }
  },
  started: (index, item) => [itemAdded(index, shellCall.render({ ...item, status: 'in_progress' }, NO_OPTIONS))],
  written: commandsWritten,
  replayed: commandsWritten,
  entries(item) {
    if (item.status !== 'completed') return []
    const { commands, timeoutMs, maxOutputLength } = shellAction(argumentsOf(item.arguments))
    const args = { commands, timeout_ms: timeoutMs ?? undefined, max_output_length: maxOutputLength ?? undefined }
    return [{ kind: 'call', call: { id: item.callId, name: SHELL, arguments: JSON.stringify(args) } }]
  },
  inputEntries: (wire) => [
    { kind: 'call', call: { id: textOf(wire['call_id']), name: SHELL, arguments: JSON.stringify(wire['action'] ?? {}) } },
  ],
  // A call that a crash left without its output item has to run as well.
  awaitsJobs: ({ callId, containerId, status }, later) =>
    containerId !== null &&
    status !== 'incomplete' &&
    !later.some((item) => item.type === 'shell_call_output' && item.callId === callId && item.status !== 'in_progress'),
  awaitsCaller: ({ status, containerId }) => status === 'completed' && containerId === null,
  containerOf: (wire) => environmentOf(wire)['container_id'],
}

const environmentOf = (wire: Wire): Wire => (wire['environment'] ?? {}) as Wire

/** The commands in the model's arguments; none without a valid one. */
export function shellAction({ commands, timeout_ms: timeout, max_output_length: length }: Wire): ShellAction {
  return {
    commands: Array.isArray(commands) ? commands.filter((one): one is string => typeof one === 'string') : [],
    timeoutMs: typeof timeout === 'number' && timeout > 0 ? Math.ceil(timeout) : null,
    maxOutputLength: typeof length === 'number' && length >= 0 ? Math.floor(length) : null,
  }
}

/** The events of the commands that the model has written. */
function commandsWritten(index: number, item: ShellCallItem): EventPayload[] {
  return shellAction(argumentsOf(item.arguments)).commands.flatMap((command, at): EventPayload[] => {
    const event = (type: string, fields: Wire): EventPayload =>
      itemEvent(`${COMMAND}.${type}`, { index, item }, { command_index: at, ...fields })
    return [event('added', { command: '' }), event('delta', { delta: command }), event('done', { command })]
  })
}
