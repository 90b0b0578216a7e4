import type { NameableFile } from '../answer/answer-text.ts'
import type { TurnDeps } from '../deps.ts'
import { linkFile } from '../outcome/settle-call.ts'
import type { Workplace } from './find-container.ts'
import type { Turn } from './turn.ts'

/** The files that an answer may name: the present version of each path. Links of this turn's files are there; others are made when needed. */
export function nameableFiles(deps: TurnDeps, turn: Turn, workplace: Workplace): readonly NameableFile[] {
  const urls = new Map<string, string>()
  for (const item of turn.items)
    if (item.type === 'code_interpreter_call') for (const file of item.outcome?.files ?? []) urls.set(file.id, file.url)
  return workplace.stored.map((file) => {
    let made: Promise<string> | null = null
    return {
      fileId: file.id,
      containerId: workplace.containerId,
      path: file.path,
      isFresh: urls.has(file.id),
      url: () => (made ??= Promise.resolve(urls.get(file.id) ?? linkFile(deps, turn.row, file))),
    }
  })
}
