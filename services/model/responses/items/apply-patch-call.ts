import * as z from 'zod'
import { argumentsOf, itemAdded, NO_OPTIONS, textOf, type CallType, type Wire } from './item-type.ts'

/** The wire's type of the tool, and what the model calls it. */
export const APPLY_PATCH = 'apply_patch'

/** A change of one file that the model wants. The caller applies it and answers with the next request. */
export interface ApplyPatchItem {
  readonly type: 'apply_patch_call'
  readonly id: string
  readonly callId: string
  /** JSON of the operation as the model wrote it. */
  readonly arguments: string
  readonly status: 'in_progress' | 'completed' | 'incomplete'
}

const OPERATIONS = ['create_file', 'update_file', 'delete_file']

/** The wire has no event for pieces of the operation, so the item appears when it is whole. */
export const applyPatchCall: CallType<ApplyPatchItem> = {
  type: 'apply_patch_call',
  idKind: 'patch',
  toolName: APPLY_PATCH,
  problemOf,
  begin: ({ id, callId }) => ({ type: 'apply_patch_call', id, callId, arguments: '', status: 'in_progress' }),
  close: (item, args, isWhole) => ({ ...item, arguments: args, status: isWhole ? 'completed' : 'incomplete' }),
  wireFields: () => ({
    call_id: z.string(),
    operation: z.object({ type: z.string(), path: z.string(), diff: z.string().optional() }),
  }),
  render: (item) => ({
    id: item.id,
    type: item.type,
    call_id: item.callId,
    // The wire knows no other status of a call that did not end.
    status: item.status === 'completed' ? 'completed' : 'in_progress',
    operation: operationOf(item.arguments),
  }),
  parse: (wire) => ({
    type: 'apply_patch_call',
    id: String(wire['id']),
    callId: String(wire['call_id']),
    arguments: JSON.stringify(wire['operation']),
    status: wire['status'] === 'completed' ? 'completed' : 'in_progress',
  }),
  started: (index, item) => [itemAdded(index, applyPatchCall.render({ ...item, status: 'in_progress' }, NO_OPTIONS))],
  written: () => [],
  replayed: () => [],
  entries: ({ callId, status, arguments: args }) =>
    status === 'completed' ? [{ kind: 'call', call: { id: callId, name: APPLY_PATCH, arguments: args } }] : [],
  inputEntries: (wire) => [
    { kind: 'call', call: { id: textOf(wire['call_id']), name: APPLY_PATCH, arguments: JSON.stringify(wire['operation'] ?? {}) } },
  ],
  awaitsCaller: ({ status }) => status === 'completed',
}

/** The operation in the model's arguments, with the fields of its type only. Accepts any text. */
function operationOf(args: string): Wire {
  const { type, path, diff } = argumentsOf(args)
  const common = { type: textOf(type), path: textOf(path) }
  return type === 'delete_file' ? common : { ...common, diff: textOf(diff) }
}

/** What is wrong with the model's arguments, for the model; null when the caller can use them. */
function problemOf(args: string): string | null {
  const { type, path, diff } = argumentsOf(args)
  if (!OPERATIONS.includes(textOf(type))) return `its arguments are no JSON object with a "type" of ${OPERATIONS.join(', ')}`
  if (textOf(path) === '') return 'its arguments name no "path"'
  return type !== 'delete_file' && typeof diff !== 'string' ? 'its arguments have no string "diff"' : null
}
