import * as z from 'zod'
import type { EventPayload } from '../../events.ts'
import type { LinkedFile } from '../linked-file.ts'
import { filesSchema, itemAdded, itemEvent, NO_OPTIONS, objectsIn, textOf, type ItemType, type Wire } from './item-type.ts'
import { resultEntry } from './result-entry.ts'
import type { ShellStatus } from './shell-call.ts'

const CONTENT = 'response.shell_call_output_content'

export interface ShellResult {
  readonly stdout: string
  readonly stderr: string
  /** Null: the command was stopped at its time limit. */
  readonly exitCode: number | null
}

/** What the commands of one call did, in their order. */
export interface ShellOutputItem {
  readonly type: 'shell_call_output'
  readonly id: string
  readonly callId: string
  readonly status: ShellStatus
  /** Characters of stdout and of stderr per command, as the model asked; null for the default. */
  readonly maxOutputLength: number | null
  readonly results: readonly ShellResult[]
  /** Files that the commands made or changed. */
  readonly files: readonly LinkedFile[]
  /** What the model reads. */
  readonly modelText: string
}

export const shellCallOutput: ItemType<ShellOutputItem> = {
  type: 'shell_call_output',
  progressEvents: [`${CONTENT}.done`],
  isContinued: true,
  wireFields() {
    const outcome = z.object({ type: z.string(), exit_code: z.int().optional() })
    return {
      call_id: z.string(),
      output: z.array(z.object({ stdout: z.string(), stderr: z.string(), outcome })),
      x_cellblock: z.looseObject({ files: filesSchema() }).optional(),
    }
  },
  render: (item) => ({
    id: item.id,
    type: item.type,
    call_id: item.callId,
    status: item.status,
    max_output_length: item.maxOutputLength,
    output: item.results.map(renderResult),
    ...(item.status === 'in_progress' ? {} : { x_cellblock: { files: item.files.map(renderFile), model_text: item.modelText } }),
  }),
  parse(wire) {
    const extension = (wire['x_cellblock'] ?? {}) as Wire
    return {
      type: 'shell_call_output',
      id: String(wire['id']),
      callId: String(wire['call_id']),
      status: wire['status'] as ShellStatus,
      maxOutputLength: typeof wire['max_output_length'] === 'number' ? wire['max_output_length'] : null,
      results: (wire['output'] as readonly Wire[]).map(parseResult),
      files: [],
      modelText: textOf(extension['model_text']),
    }
  },
  started: (index, item) => [itemAdded(index, shellCallOutput.render({ ...item, status: 'in_progress' }, NO_OPTIONS))],
  written: () => [],
  replayed: (index, item) => item.results.map((result, at) => shellResultDone({ index, item, commandIndex: at, result })),
  entries: ({ callId, modelText, files }) => [resultEntry(callId, modelText, { images: [], files })],
  inputEntries(wire) {
    const { output } = wire
    const text = Array.isArray(output) ? shellText(objectsIn(output).map(parseResult)) : JSON.stringify(output ?? '')
    return [{ kind: 'result', callId: textOf(wire['call_id']), text }]
  },
  printed: (index, item, { jobIndex, stream, text }) =>
    itemEvent(`${CONTENT}.delta`, { index, item }, { command_index: jobIndex, delta: { [stream]: text } }),
  files: ({ files }) => files,
}

const renderResult = ({ stdout, stderr, exitCode }: ShellResult): Wire => ({
  stdout,
  stderr,
  outcome: exitCode === null ? { type: 'timeout' } : { type: 'exit', exit_code: exitCode },
})

const renderFile = ({ id, path, bytes, mime, url }: LinkedFile): Wire => ({ id, path: `/mnt/data/${path}`, bytes, mime, url })

function parseResult(wire: Wire): ShellResult {
  const { exit_code: exitCode } = (wire['outcome'] ?? {}) as Wire
  return { stdout: textOf(wire['stdout']), stderr: textOf(wire['stderr']), exitCode: typeof exitCode === 'number' ? exitCode : null }
}

export const shellResultDone = ({
  index,
  item,
  commandIndex,
  result,
}: {
  readonly index: number
  readonly item: ShellOutputItem
  readonly commandIndex: number
  readonly result: ShellResult
}): EventPayload => itemEvent(`${CONTENT}.done`, { index, item }, { command_index: commandIndex, output: [renderResult(result)] })

/** The results as text for the model. Data of a client may have any form. */
export const shellText = (results: readonly ShellResult[]): string =>
  results
    .map(({ stdout, stderr, exitCode }, at) => {
      const parts = [`command ${at + 1}: ${exitCode === null ? 'stopped, because it took too long' : `exit code ${exitCode}`}`]
      if (stdout !== '') parts.push(`stdout:\n${stdout.replace(/\n$/, '')}`)
      if (stderr !== '') parts.push(`stderr:\n${stderr.replace(/\n$/, '')}`)
      return parts.join('\n')
    })
    .join('\n\n')
