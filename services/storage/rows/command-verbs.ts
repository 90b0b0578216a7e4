import type { Container } from '../../core/containers/container.ts'
import { LIMITS } from '../../core/limits.ts'
import type { ContainerStore } from '../../core/ports/container-store.ts'
import { absent, all, append, equals, exists, lacks, remove, set, shorterThan, type Action, type Condition } from './expression.ts'
import type { Items, WriteOptions } from './items.ts'
import { rowKey } from './keys.ts'
import { containerCodec } from './row-shapes.ts'

type Verbs = Pick<ContainerStore, 'addCommand' | 'removeCommand' | 'noteLostCommands'>

const isLive = all(exists('pk'), absent('deletedAt'))
/** The lists may change between a refused write and the read that follows. */
const MAX_ATTEMPTS = 10

/** Operations on the running commands of a container; each is one conditional write. */
export function createCommandVerbs(items: Items): Verbs {
  const update = async (
    tenant: string,
    id: string,
    actions: readonly Action[],
    condition: Condition,
    options?: WriteOptions,
  ): Promise<Container | null> => {
    const item = await items.update(rowKey(tenant, 'container', id), actions, condition, options)
    return item === null ? null : containerCodec.decode(item)
  }
  const get = async (tenant: string, id: string): Promise<Container | null> => {
    const item = await items.get(rowKey(tenant, 'container', id))
    return item === null ? null : containerCodec.decode(item)
  }

  const removeAt = (
    tenant: string,
    id: string,
    commandId: string,
    { list, index }: CommandPlace,
    now: number,
  ): Promise<Container | null> => {
    const path = `${list}[${index}]`
    const actions = [remove(path), ...(list === 'commands' ? [set('lastActiveAt', now)] : [])]
    // As for an execution in the queue: the reconciler finds an ended command.
    return update(tenant, id, actions, equals(path, commandId), { isDeferred: true })
  }

  return {
    async addCommand(tenant, id, commandId, { isBackground }, now) {
      const list = isBackground ? 'backgroundCommands' : 'commands'
      const isUsed = set('lastActiveAt', now)
      for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt++) {
        const mayAppend = all(isLive, exists(list), lacks(list, commandId), shorterThan(list, LIMITS.maxCommandsPerContainer))
        const added =
          (await update(tenant, id, [append(list, commandId), isUsed], mayAppend, { isDeferred: true })) ??
          (await update(tenant, id, [set(list, [commandId]), isUsed], all(isLive, absent(list)), { isDeferred: true }))
        if (added !== null) return added
        const row = await get(tenant, id)
        if (row === null || row.deletedAt !== null) return 'missing'
        if (row[list]?.includes(commandId) === true) return row
        if ((row[list]?.length ?? 0) >= LIMITS.maxCommandsPerContainer) return 'full'
      }
      return 'full'
    },

    async removeCommand(tenant, id, commandId, now) {
      // Usually it is the only one, which needs no read.
      const first: CommandPlace = { list: 'commands', index: 0 }
      let row = (await removeAt(tenant, id, commandId, first, now)) ?? (await get(tenant, id))
      for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt++) {
        const place = row === null ? null : placeOf(row, commandId)
        if (row === null || place === null) return row
        row = (await removeAt(tenant, id, commandId, place, now)) ?? (await get(tenant, id))
      }
      if (row !== null && placeOf(row, commandId) !== null)
        throw new Error('The list of commands changed during every attempt to write it.')
      return row
    },

    async noteLostCommands(tenant, id, lost) {
      await update(tenant, id, [set('lostCommands', JSON.stringify(lost))], isLive)
    },
  }
}

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
