import type { ContainerSkill } from '../../../model/skills/skill.ts'
import type { NetworkPolicy } from '../../../model/network/policy.ts'
import type { ContainerFile } from '../../../model/files/file.ts'
import { hasResponseEnded, type ResponseRecord } from '../../../model/responses/response.ts'
import { withoutControls } from '../../../model/trim-text.ts'
import { inputEntries, type PathOf } from './input-entries.ts'
import type { PastTurn } from './past-turn.ts'
import { systemPrompt } from './system-prompt.ts'
import { type ResponseItem, itemEntries } from '../../../model/responses/items/item-types.ts'
import type { Entry } from '../../../model/responses/items/entry.ts'

export interface ConversationParts {
  readonly request: ResponseRecord['request']
  /** The items of this turn so far. */
  readonly items: readonly ResponseItem[]
  /** Earlier turns, oldest first. Their instructions do not apply to this one. */
  readonly history: readonly Omit<PastTurn, 'containerId'>[]
  /** Current files of the container. */
  readonly files: readonly Pick<ContainerFile, 'id' | 'path' | 'bytes' | 'source'>[]
  /** Where the container has the files of requests. */
  readonly storedPath?: PathOf
  /** Skills of the container. */
  readonly skills?: readonly ContainerSkill[]
  /** What code of the container may reach. */
  readonly network?: NetworkPolicy
  /** The model cannot call tools. */
  readonly fencesCode?: boolean
  /** The model receives the images that code shows or writes. */
  readonly readsImages?: boolean
}

/** The whole conversation for the model, before truncation to the context window. */
export function buildEntries({
  request,
  items,
  history,
  files,
  storedPath,
  skills = [],
  network,
  fencesCode = false,
  readsImages = false,
}: ConversationParts): Entry[] {
  const paths = new Map<string, string>(files.map((file) => [file.id, file.path]))
  for (const item of [...history.flatMap((turn) => turn.items), ...items]) {
    if (item.type === 'code_interpreter_call') for (const file of item.outcome?.files ?? []) paths.set(file.id, file.path)
  }
  const pathOf = (fileId: string): string | null => paths.get(fileId) ?? null
  const prompt = systemPrompt({
    hasInterpreter: request.interpreter !== null && request.interpreter.isShellOnly !== true,
    hasShell: request.interpreter?.isShellOnly === true,
    fencesCode,
    files,
    skills,
    ...(network && { network }),
    instructions: request.instructions,
  })
  const conversation = [
    ...history.flatMap((turn) => [
      ...inputEntries(turn.request.input, storedPath),
      ...itemEntries(turn.items, hasResponseEnded(turn.status), pathOf),
    ]),
    ...inputEntries(request.input, storedPath),
  ]
  // Many endpoints accept only one system message, at the start.
  const system = [prompt, ...conversation.map((entry) => (entry.kind === 'system' ? entry.text : null))].filter((text) => text !== null)
  const entries: Entry[] = [
    ...(system.length === 0 ? [] : [{ kind: 'system', text: system.join('\n\n') } as const]),
    ...[...conversation.filter((entry) => entry.kind !== 'system'), ...itemEntries(items, false, pathOf)].map(withoutNoise),
  ]
  return keepLatestImages(entries, readsImages)
}

/** A request to a model carries the latest images of code, at most this many. */
const MAX_IMAGES = 4

/** Terminal sequences and other control characters of outputs are noise for a model. */
const withoutNoise = (entry: Entry): Entry => (entry.kind === 'result' ? { ...entry, text: withoutControls(entry.text) } : entry)

/** Keeps the latest images of the results for a model that reads images, and none for another. */
function keepLatestImages(entries: readonly Entry[], readsImages: boolean): Entry[] {
  let left = readsImages ? MAX_IMAGES : 0
  return entries
    .toReversed()
    .map((entry): Entry => {
      if (entry.kind !== 'result' || entry.images === undefined) return entry
      const { images, ...rest } = entry
      const kept = left === 0 ? [] : images.slice(-left)
      left -= kept.length
      return kept.length === 0 ? rest : { ...rest, images: kept }
    })
    .toReversed()
}
