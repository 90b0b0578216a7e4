import * as z from 'zod'
import type { EventPayload } from '../../events.ts'
import type { ExecutionUsage, Lost } from '../../executions/execution.ts'
import type { MimeBundle } from '../../executions/outputs.ts'
import { snakeCase } from '../../snake-case.ts'
import { EXTENSION_EVENT, extensionData } from '../extension-event.ts'
import type { LinkedFile } from '../linked-file.ts'
import { filesSchema, itemAdded, itemEvent, NO_OPTIONS, objectsIn, textOf, type CallType, type Wire } from './item-type.ts'
import { resultEntry } from './result-entry.ts'

/** What the model calls the interpreter. */
export const PYTHON = 'python'
/** The interpreter as requests (type) and the model (name) call it. */
export const CODE_INTERPRETER = { type: 'code_interpreter', name: PYTHON } as const
/** The value of `include` that adds the outputs. */
const OUTPUTS = 'code_interpreter_call.outputs'
const CODE = 'response.code_interpreter_call_code'
const CALL = 'response.code_interpreter_call'

export interface CodeItem {
  readonly type: 'code_interpreter_call'
  readonly id: string
  readonly callId: string
  readonly containerId: string
  readonly code: string
  readonly status: CallStatus
  readonly outcome: CallOutcome | null
}

export type CallStatus = 'in_progress' | 'interpreting' | 'completed' | 'incomplete' | 'failed'

/** An image that code displayed. `objectKey` and `bytes` are absent in old rows. */
export interface CallImage {
  /** A long-lived link; `linkId` revokes it. */
  readonly url: string
  readonly mime: string
  readonly linkId?: string
  readonly objectKey?: string
  readonly bytes?: number
  /** Only while a response is rendered; never stored. */
  readonly dataUrl?: string
}

/** The result of a code_interpreter_call. */
export interface CallOutcome {
  /** Null when the call did not become an execution: its arguments were invalid, or it was not accepted. */
  readonly executionId: string | null
  readonly status: string
  readonly reason: string | null
  /** Printed text and result as the wire's `logs`, cut to head and tail. */
  readonly logs: string
  readonly images: readonly CallImage[]
  readonly files: readonly LinkedFile[]
  readonly lost: readonly Lost[]
  readonly error: { readonly name: string; readonly value: string; readonly traceback: readonly string[] } | null
  readonly usage: ExecutionUsage | null
  /** The displayed MIME bundles, without their large parts. */
  readonly outputs: readonly MimeBundle[]
  /** The text that the model receives. */
  readonly modelText: string
}

/** `outputs` is null unless the request includes it; `x_cellblock` is present when the call has ended. */
export const codeInterpreterCall: CallType<CodeItem> = {
  type: 'code_interpreter_call',
  include: { name: OUTPUTS, description: 'the outputs in each call' },
  progressEvents: [`${CALL}.interpreting`, `${CALL}.completed`],
  idKind: 'call',
  toolName: PYTHON,
  begin: ({ id, callId, containerId }) => ({
    type: 'code_interpreter_call',
    id,
    callId,
    containerId: containerId ?? '',
    code: '',
    status: 'in_progress',
    outcome: null,
  }),
  // The code is an argument that is read while it arrives (`OpenCall`).
  close: (item, _, isWhole) => ({ ...item, status: isWhole ? 'in_progress' : 'incomplete' }),
  wireFields() {
    const logs = z.object({ type: z.literal('logs'), logs: z.string() })
    const image = z.object({ type: z.literal('image'), url: z.string() })
    const outcome = { execution_id: z.string().nullable(), status: z.string(), reason: z.string().nullable(), files: filesSchema() }
    return {
      container_id: z.string(),
      code: z.string(),
      outputs: z.array(z.discriminatedUnion('type', [logs, image])).nullable(),
      x_cellblock: z.looseObject(outcome).optional(),
    }
  },
  render: (item, { include }) => ({
    id: item.id,
    type: 'code_interpreter_call',
    container_id: item.containerId,
    code: item.code,
    status: item.status,
    outputs: item.outcome !== null && include.includes(OUTPUTS) ? renderOutputs(item.outcome) : null,
    ...(item.outcome === null ? {} : { x_cellblock: renderOutcome(item.outcome) }),
  }),
  parse: (wire) => ({
    type: 'code_interpreter_call',
    id: String(wire['id']),
    callId: String(wire['id']),
    containerId: String(wire['container_id']),
    code: String(wire['code']),
    status: String(wire['status']) as CallStatus,
    outcome: null,
  }),
  started: (index, item) => [
    itemAdded(index, { ...codeInterpreterCall.render(item, NO_OPTIONS), code: '', status: 'in_progress' }),
    itemEvent(`${CALL}.in_progress`, { index, item }),
  ],
  delta,
  extend: (item, more) => ({ ...item, code: item.code + more }),
  written,
  replayed(index, item) {
    const text = [...(item.code === '' ? [] : [delta(index, item, item.code)]), ...written(index, item)]
    if ((item.outcome?.executionId ?? null) === null) return text
    return [...text, callInterpreting(index, item), ...(item.status === 'completed' ? [callCompleted(index, item)] : [])]
  },
  entries: ({ callId, code, outcome }) =>
    outcome === null
      ? []
      : [
          { kind: 'call', call: { id: callId, name: PYTHON, arguments: JSON.stringify({ code }) } },
          resultEntry(callId, outcome.modelText, outcome),
        ],
  inputEntries(wire) {
    const callId = textOf(wire['call_id'] ?? wire['id'])
    const logs = objectsIn(wire['outputs']).map((output) =>
      output['type'] === 'logs' ? textOf(output['logs']) : '[a picture was shown to the user]',
    )
    return [
      { kind: 'call', call: { id: callId, name: PYTHON, arguments: JSON.stringify({ code: textOf(wire['code']) }) } },
      { kind: 'result', callId, text: logs.join('\n') || '(its output was not kept)' },
    ]
  },
  awaitsJobs: ({ outcome, status }) => outcome === null && (status === 'in_progress' || status === 'interpreting'),
  printed: (index, item, { stream, text }) => ({
    type: EXTENSION_EVENT,
    data: extensionData('code_interpreter_call_output', { output_index: index, item_id: item.id, stream, text }),
  }),
  files: ({ outcome }) => outcome?.files ?? [],
  containerOf: (wire) => wire['container_id'],
}

export const callInterpreting = (index: number, item: CodeItem): EventPayload => itemEvent(`${CALL}.interpreting`, { index, item })
export const callCompleted = (index: number, item: CodeItem): EventPayload => itemEvent(`${CALL}.completed`, { index, item })

function delta(index: number, item: CodeItem, more: string): EventPayload {
  return itemEvent(`${CODE}.delta`, { index, item }, { delta: more })
}

function written(index: number, item: CodeItem): EventPayload[] {
  return [itemEvent(`${CODE}.done`, { index, item }, { code: item.code })]
}

function renderOutputs(outcome: CallOutcome): readonly Wire[] {
  const logs = outcome.logs === '' ? [] : [{ type: 'logs', logs: outcome.logs }]
  return [...logs, ...outcome.images.map((image) => ({ type: 'image', url: image.dataUrl ?? image.url }))]
}

function renderOutcome(outcome: CallOutcome): Wire {
  return {
    execution_id: outcome.executionId,
    status: outcome.status,
    reason: outcome.reason,
    error: outcome.error,
    files: outcome.files.map(renderFile),
    images: outcome.images.map(({ url, mime, linkId }) => ({ url, mime, ...(linkId === undefined ? {} : { link_id: linkId }) })),
    lost: outcome.lost.map(({ what, reason }: Lost) => ({ what, reason })),
    usage:
      outcome.usage === null ? null : Object.fromEntries(Object.entries(outcome.usage).map(([name, value]) => [snakeCase(name), value])),
    outputs: outcome.outputs,
  }
}

const renderFile = (file: LinkedFile): Wire => ({
  id: file.id,
  path: `/mnt/data/${file.path}`,
  bytes: file.bytes,
  sha256: file.sha256,
  mime: file.mime,
  url: file.url,
  ...(file.linkId === undefined ? {} : { link_id: file.linkId }),
  is_new: file.isNew,
  ...(file.modifiedFrom === null ? {} : { modified_from: file.modifiedFrom }),
})
