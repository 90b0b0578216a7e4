import type { Container } from '../../../model/containers/container.ts'
import type { ContainerStore } from '../../../ports/container-store.ts'
import { getContainer, updateContainer } from './container-rows.ts'
import {
  absent,
  all,
  any,
  assign,
  atMost,
  below,
  equals,
  exists,
  increment,
  remove,
  set,
  shorterThan,
  type Condition,
} from './expression.ts'
import type { Items } from './items.ts'

type Verbs = Pick<ContainerStore, 'claimHibernation' | 'renewHibernation' | 'hibernate' | 'endHibernation' | 'beginRestore' | 'endRestore'>

const isLive = all(exists('pk'), absent('deletedAt'))
const isUnused = all(shorterThan('queue', 1), any(absent('commands'), shorterThan('commands', 1)))
/** The same for one whose commands are suspended with it: none was added since. */
const isUnusedSince = (lastActiveAt: number): Condition => all(shorterThan('queue', 1), equals('lastActiveAt', lastActiveAt))
const isClaim = (objectKey: string): Condition => equals('hibernating.objectKey', objectKey)
const isSnapshot = (objectKey: string): Condition => equals('snapshot.objectKey', objectKey)

/** Operations for hibernation and restore; each is one conditional write. */
export const createHibernationVerbs = (items: Items): Verbs => ({ ...hibernatingVerbs(items), ...restoringVerbs(items) })

/** The client repeats a write whose reply was lost, so a refused write may have succeeded in this call. */
async function getIf(
  items: Items,
  { tenant, id }: { readonly tenant: string; readonly id: string },
  isDone: (row: Container) => boolean,
): Promise<Container | null> {
  const row = await getContainer(items, tenant, id)
  return row !== null && row.deletedAt === null && isDone(row) ? row : null
}

function hibernatingVerbs(items: Items): Pick<Verbs, 'claimHibernation' | 'renewHibernation' | 'hibernate' | 'endHibernation'> {
  return {
    async claimHibernation(tenant, id, { idle: { generation, lastActiveAt }, claim, now, keepsCommands = false }) {
      const isSame = all(equals('generation', generation), exists('sandboxId'), equals('lastActiveAt', lastActiveAt))
      const isIdle = all(isSame, keepsCommands ? isUnusedSince(lastActiveAt) : isUnused)
      const isFree = any(absent('hibernating'), atMost('hibernating.expiresAt', now))
      const actions = [set('hibernating', claim), set('dueAt', claim.expiresAt)]
      return (
        (await updateContainer(items, { tenant, id }, { actions, condition: all(isLive, isIdle, isFree) })) ??
        (await getIf(items, { tenant, id }, (row) => row.hibernating?.objectKey === claim.objectKey))
      )
    },

    renewHibernation: (tenant, id, { objectKey, expiresAt }) =>
      updateContainer(
        items,
        { tenant, id },
        { actions: [set('hibernating.expiresAt', expiresAt)], condition: all(isLive, isClaim(objectKey)) },
      ),

    async hibernate(tenant, id, { objectKey, snapshot, stateLost, lostFiles, dueAt, commandsSince }) {
      const isStillIdle = commandsSince === undefined ? isUnused : isUnusedSince(commandsSince)
      const actions = [
        remove('hibernating'),
        ...(snapshot?.suspendedIn === undefined && snapshot?.copiedAt === undefined ? [remove('sandboxId')] : []),
        assign('snapshot', snapshot),
        assign('stateLost', stateLost),
        assign('lostFiles', lostFiles.length === 0 ? null : JSON.stringify(lostFiles)),
        set('dueAt', dueAt),
      ]
      return (
        (await updateContainer(items, { tenant, id }, { actions, condition: all(isLive, isClaim(objectKey), isStillIdle) })) ??
        (await getIf(items, { tenant, id }, (row) => row.snapshot?.objectKey === objectKey))
      )
    },

    endHibernation: (tenant, id, objectKey) =>
      updateContainer(items, { tenant, id }, { actions: [remove('hibernating')], condition: isClaim(objectKey) }),
  }
}

function restoringVerbs(items: Items): Pick<Verbs, 'beginRestore' | 'endRestore'> {
  return {
    async beginRestore(tenant, id, { generation, objectKey }) {
      const isFirst = any(absent('snapshot.triedBy'), below('snapshot.triedBy', generation))
      const isAllowed = all(isLive, equals('generation', generation), isSnapshot(objectKey), equals('snapshot.isRestored', false))
      const actions = [increment('snapshot.tries'), set('snapshot.triedBy', generation)]
      return (
        (await updateContainer(items, { tenant, id }, { actions, condition: all(isAllowed, isFirst) })) ??
        // The same sandbox tries again.
        (await getIf(items, { tenant, id }, (row) => {
          const { snapshot } = row
          return (
            row.generation === generation && snapshot?.objectKey === objectKey && !snapshot.isRestored && snapshot.triedBy === generation
          )
        }))
      )
    },

    endRestore: (tenant, id, { generation, objectKey, isResumed = false }) =>
      updateContainer(
        items,
        { tenant, id },
        {
          actions: [set('snapshot.isRestored', true), ...(isResumed ? [remove('lostFiles')] : [])],
          condition: all(isLive, equals('generation', generation), isSnapshot(objectKey)),
        },
      ),
  }
}
