import type { CallToolResult } from '@modelcontextprotocol/server'
import { hasEnded, type Execution, type ExecutionResult } from '../../model/executions/execution.ts'
import { workKindOf, type WorkKindName } from '../../model/executions/work-kinds.ts'
import { loadResult } from '../../operations/executions/load-result.ts'
import { fileName } from '../../model/files/file-path.ts'
import type { ObjectStore } from '../../ports/object-store.ts'
import { trimText, withoutControls } from '../../model/trim-text.ts'
import type { ApiDeps } from '../../http/deps.ts'
import { inlineOutput } from '../../operations/executions/notebook-parts.ts'
import { storedBytes } from '../../operations/executions/stored-bytes.ts'
import { answer, fileUri, text } from './answers.ts'

type Content = CallToolResult['content']

/** What a row is to the model. */
const NOUNS: Readonly<Record<WorkKindName, string>> = { execution: 'code', command: 'command' }
export const nounOf = (row: Pick<Execution, 'source'>): string => NOUNS[workKindOf(row).name]

/** Maximum length of each text in a result, characters; `get_execution` returns no more, the native API does. */
const MAX_CHARS = 50_000
/** Images of one result, bytes of base64 in all. */
const MAX_IMAGE_BYTES = 2 * 1024 * 1024
const IMAGES = ['image/png', 'image/jpeg', 'image/gif', 'image/webp']

/** An execution as a tool's result: text, images and links to files for the model, fields for programs. */
export async function executionResult(deps: Pick<ApiDeps, 'objects' | 'results'>, row: Execution): Promise<CallToolResult> {
  return deps.results.hold(storedBytes(row), async () => {
    const result = await loadResult(deps.objects, row)
    const fields = fieldsOf(row, result)
    const images = await imagesOf(deps.objects, result)
    const links = (result?.files ?? []).map((file): Content[number] => ({
      type: 'resource_link',
      uri: fileUri(row.containerId, file.path),
      name: fileName(file.path),
      mimeType: file.mime,
      size: file.bytes,
    }))
    return answer([text(transcript(row, fields)), ...images, ...links], { ...fields }, hasEnded(row.status) && row.status !== 'succeeded')
  })
}

interface Fields {
  readonly id: string
  readonly object: WorkKindName
  readonly container_id: string
  readonly status: string
  readonly reason: string | null
  readonly created_at: string
  readonly started_at: string | null
  readonly ended_at: string | null
  /** Exit code of a command; null when a signal ended it. */
  readonly exit_code?: number | null
  readonly stdout: string
  readonly stderr: string
  /** The values of last expressions, as text. */
  readonly results: readonly string[]
  readonly error: { readonly name: string; readonly value: string; readonly traceback: string } | null
  readonly files: readonly {
    readonly id: string
    readonly path: string
    readonly bytes: number
    readonly mime: string
    readonly uri: string
  }[]
  readonly lost: readonly { readonly what: string; readonly reason: string }[]
}

const iso = (at: number | null): string | null => (at === null ? null : new Date(at).toISOString())
const shorten = (value: string): string => trimText(withoutControls(value), MAX_CHARS)

function fieldsOf(row: Execution, result: ExecutionResult | null): Fields {
  const error = result?.error ?? null
  return {
    id: row.id,
    object: workKindOf(row).name,
    container_id: row.containerId,
    status: row.status,
    reason: row.reason,
    created_at: iso(row.createdAt) ?? '',
    started_at: iso(row.startedAt),
    ended_at: iso(row.endedAt),
    ...(result?.exit === undefined ? {} : { exit_code: result.exit.code }),
    stdout: shorten(result?.stdout ?? ''),
    stderr: shorten(result?.stderr ?? ''),
    results: (result?.cells ?? []).flatMap(({ outputs }) => outputs.flatMap(resultText)),
    error: error === null ? null : { name: error.name, value: error.value, traceback: shorten(error.traceback.join('\n')) },
    files: (result?.files ?? []).map((file) => ({
      id: file.id,
      path: `/mnt/data/${file.path}`,
      bytes: file.bytes,
      mime: file.mime,
      uri: fileUri(row.containerId, file.path),
    })),
    lost: result?.lost ?? row.lostBefore,
  }
}

function resultText(output: ExecutionResult['cells'][number]['outputs'][number]): string[] {
  if (output.output_type !== 'execute_result') return []
  const value = output.data['text/plain']
  return typeof value === 'string' ? [shorten(value)] : Array.isArray(value) ? [shorten(value.join(''))] : []
}

/** What the model reads. */
function transcript(row: Execution, fields: Fields): string {
  if (!hasEnded(row.status))
    return `The ${nounOf(row)} is ${row.status}. Read the result with get_execution and execution_id ${row.id}, or stop it with interrupt. container_id: ${row.containerId}`
  const error = fields.error === null ? '' : fields.error.traceback || `${fields.error.name}: ${fields.error.value}`
  const parts = [
    fields.stdout,
    ...fields.results,
    fields.stderr === '' ? '' : `stderr:\n${fields.stderr}`,
    error,
    row.status === 'succeeded' || row.reason === 'error'
      ? ''
      : `The ${workKindOf(row).name} ended with status ${row.status} (${row.reason ?? 'no reason'}).`,
    ...fields.files.map((file) => `File: ${file.path} (${file.bytes} bytes)`),
    ...fields.lost.map(({ what, reason }) => `Not available: ${what}. ${reason}`),
    ...(fields.exit_code === undefined || fields.exit_code === 0 ? [] : [`exit code: ${fields.exit_code ?? 'none, ended by a signal'}`]),
    `container_id: ${row.containerId}`,
  ]
  return parts.filter((part) => part !== '').join('\n')
}

async function imagesOf(objects: ObjectStore, result: ExecutionResult | null): Promise<Content> {
  const budget = { bytes: MAX_IMAGE_BYTES }
  const images: Content = []
  for (const cell of result?.cells ?? [])
    for (const output of cell.outputs) {
      const whole = await inlineOutput(objects, output, budget)
      if (!('data' in whole)) continue
      const mimeType = IMAGES.find((type) => typeof whole.data[type] === 'string')
      const data = mimeType === undefined ? undefined : whole.data[mimeType]
      if (mimeType === undefined || typeof data !== 'string') continue
      const base64 = data.replaceAll('\n', '')
      if (isBase64(base64)) images.push({ type: 'image', data: base64, mimeType })
    }
  return images
}

/** User code may call any text an image. The protocol refuses the whole result if one image is not Base64. */
const isBase64 = (text: string): boolean => text !== '' && text.length % 4 === 0 && /^[A-Za-z0-9+/]+={0,2}$/.test(text)
