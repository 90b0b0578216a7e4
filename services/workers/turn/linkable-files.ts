import { linkDaysOf } from '../../operations/links/create-link.ts'
import { filesOf } from '../../model/responses/items/item-types.ts'
import type { LinkableFile } from './answer/answer-text.ts'
import type { TurnDeps } from './deps.ts'
import { linkFile } from './outcome/call-outcome.ts'
import type { TurnView } from './turn-state.ts'
import type { ContainerContext } from './container-context.ts'

type FileLink = Awaited<ReturnType<LinkableFile['link']>>

/** The files that an answer may name: the current version of each path. Files of this turn have links already; others get one when it is needed. */
export function linkableFiles(
  deps: TurnDeps,
  { row, state }: TurnView,
  { containerId, stored }: ContainerContext,
): readonly LinkableFile[] {
  const links = new Map<string, FileLink>()
  for (const item of state.items)
    for (const { id, url, linkId } of filesOf(item)) links.set(id, { url, ...(linkId === undefined ? {} : { id: linkId }) })
  let days: Promise<number> | null = null
  return stored.map((file) => {
    let created: Promise<FileLink> | null = null
    const create = async (): Promise<FileLink> => linkFile(deps, row, file, await (days ??= linkDaysOf(deps.table.tenants, row.tenant)))
    return {
      fileId: file.id,
      containerId,
      path: file.path,
      isFresh: links.has(file.id),
      link: () => {
        const known = links.get(file.id)
        return (created ??= known === undefined ? create() : Promise.resolve(known))
      },
    }
  })
}
