import { linkDaysOf } from '../../core/links/create-link.ts'
import type { NameableFile } from '../answer/answer-text.ts'
import type { TurnDeps } from '../deps.ts'
import { linkFile } from '../outcome/settle-call.ts'
import type { Turn } from './turn.ts'
import type { ContainerContext } from './container-context.ts'

type FileLink = Awaited<ReturnType<NameableFile['link']>>

/** The files that an answer may name: the present version of each path. Links of this turn's files are there; others are made when needed. */
export function nameableFiles(deps: TurnDeps, turn: Turn, workplace: ContainerContext): readonly NameableFile[] {
  const { containerId } = workplace
  const links = new Map<string, FileLink>()
  for (const item of turn.items)
    if (item.type === 'code_interpreter_call')
      for (const { id, url, linkId } of item.outcome?.files ?? []) links.set(id, { url, ...(linkId === undefined ? {} : { id: linkId }) })
  let days: Promise<number> | null = null
  return workplace.stored.map((file) => {
    let made: Promise<FileLink> | null = null
    const make = async (): Promise<FileLink> =>
      linkFile(deps, turn.row, file, await (days ??= linkDaysOf(deps.table.tenants, turn.row.tenant)))
    return {
      fileId: file.id,
      containerId,
      path: file.path,
      isFresh: links.has(file.id),
      link: () => {
        const known = links.get(file.id)
        return (made ??= known === undefined ? make() : Promise.resolve(known))
      },
    }
  })
}
