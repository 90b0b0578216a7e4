import type { ContainerFile } from '../../core/files/file.ts'
import { hasResponseEnded, type ResponseRecord, type ResponseItem } from '../../core/responses/response.ts'
import type { Entry } from './entry.ts'
import { inputEntries } from './input-entries.ts'
import { itemEntries } from './item-entries.ts'
import type { PastTurn } from './past-turn.ts'
import { systemPrompt } from './system-prompt.ts'

export interface ConversationParts {
  readonly request: ResponseRecord['request']
  /** What this turn has produced so far. */
  readonly items: readonly ResponseItem[]
  /** Turns before this one, the oldest first. Their instructions do not carry over. */
  readonly history: readonly Omit<PastTurn, 'containerId'>[]
  /** Current files of the container. */
  readonly files: readonly Pick<ContainerFile, 'id' | 'path' | 'bytes' | 'source'>[]
  /** The model cannot call tools. */
  readonly fencesCode?: boolean
}

/** The whole conversation for the model, before it is shortened to the window. */
export function buildEntries({ request, items, history, files, fencesCode = false }: ConversationParts): Entry[] {
  const paths = new Map<string, string>(files.map((file) => [file.id, file.path]))
  for (const item of [...history.flatMap((turn) => turn.items), ...items]) {
    if (item.type === 'code_interpreter_call') for (const file of item.outcome?.files ?? []) paths.set(file.id, file.path)
  }
  const pathOf = (fileId: string): string | null => paths.get(fileId) ?? null
  const prompt = systemPrompt({ hasInterpreter: request.interpreter !== null, fencesCode, files, instructions: request.instructions })
  const conversation = [
    ...history.flatMap((turn) => [...inputEntries(turn.request.input), ...itemEntries(turn.items, hasResponseEnded(turn.status), pathOf)]),
    ...inputEntries(request.input),
  ]
  // Many endpoints take one system message, at the start.
  const system = [prompt, ...conversation.map((entry) => (entry.kind === 'system' ? entry.text : null))].filter((text) => text !== null)
  return [
    ...(system.length === 0 ? [] : [{ kind: 'system', text: system.join('\n\n') } as const]),
    ...conversation.filter((entry) => entry.kind !== 'system'),
    ...itemEntries(items, false, pathOf),
  ]
}
