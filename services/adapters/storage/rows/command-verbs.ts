import { changeByCompareAndSet } from '../../../model/change-by-compare-and-set.ts'
import type { Container } from '../../../model/containers/container.ts'
import { LIMITS } from '../../../model/limits.ts'
import type { ContainerStore } from '../../../ports/container-store.ts'
import { getContainer, updateContainer } from './container-rows.ts'
import { absent, all, append, equals, exists, lacks, remove, set, shorterThan } from './expression.ts'
import type { Items } from './items.ts'

type Verbs = Pick<ContainerStore, 'addCommand' | 'removeCommand' | 'noteLostCommands'>

const isLive = all(exists('pk'), absent('deletedAt'))

/** Operations on the running commands of a container; each is one conditional write. */
export const createCommandVerbs = (items: Items): Verbs => ({
  ...addingVerb(items),
  ...removingVerb(items),
  async noteLostCommands(tenant, id, lost) {
    await updateContainer(items, { tenant, id }, { actions: [set('lostCommands', JSON.stringify(lost))], condition: isLive })
  },
})

const addingVerb = (items: Items): Pick<Verbs, 'addCommand'> => ({
  async addCommand(tenant, id, { commandId, isBackground, now }) {
    const row = { tenant, id }
    const list = isBackground ? 'backgroundCommands' : 'commands'
    const isUsed = set('lastActiveAt', now)
    const mayAppend = all(isLive, exists(list), lacks(list, commandId), shorterThan(list, LIMITS.maxCommandsPerContainer))
    return changeByCompareAndSet(
      async () => {
        const added =
          (await updateContainer(items, row, { actions: [append(list, commandId), isUsed], condition: mayAppend, isDeferred: true })) ??
          (await updateContainer(items, row, {
            actions: [set(list, [commandId]), isUsed],
            condition: all(isLive, absent(list)),
            isDeferred: true,
          }))
        if (added !== null) return added
        const container = await getContainer(items, tenant, id)
        if (container === null || container.deletedAt !== null) return 'missing'
        if (container[list]?.includes(commandId) === true) return container
        return (container[list]?.length ?? 0) >= LIMITS.maxCommandsPerContainer ? 'full' : undefined
      },
      () => new Error(`The commands of the container ${id} changed during every attempt to add one.`),
    )
  },
})

const removingVerb = (items: Items): Pick<Verbs, 'removeCommand'> => ({
  async removeCommand(tenant, id, { commandId, now }) {
    const removeAt = ({ list, index }: CommandPlace): Promise<Container | null> => {
      const path = `${list}[${index}]`
      const actions = [remove(path), ...(list === 'commands' ? [set('lastActiveAt', now)] : [])]
      // As for an execution in the queue: the reconciler finds an ended command.
      return updateContainer(items, { tenant, id }, { actions, condition: equals(path, commandId), isDeferred: true })
    }
    // Usually it is the only one, which needs no read.
    const first = await removeAt({ list: 'commands', index: 0 })
    if (first !== null && placeOf(first, commandId) === null) return first
    const { row } = await changeByCompareAndSet(
      async () => {
        const row = await getContainer(items, tenant, id)
        const place = row === null ? null : placeOf(row, commandId)
        if (place === null) return { row }
        const removed = await removeAt(place)
        return removed !== null && placeOf(removed, commandId) === null ? { row: removed } : undefined
      },
      () => new Error('The list of commands changed during every attempt to write it.'),
    )
    return row
  },
})

interface CommandPlace {
  readonly list: 'commands' | 'backgroundCommands'
  readonly index: number
}

function placeOf(row: Container, commandId: string): CommandPlace | null {
  for (const list of ['commands', 'backgroundCommands'] as const) {
    const index = row[list]?.indexOf(commandId) ?? -1
    if (index !== -1) return { list, index }
  }
  return null
}
