import type { Container } from '../../core/containers/container.ts'
import type { ContainerStore } from '../../core/ports/container-store.ts'
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
  type Action,
  type Condition,
} from './expression.ts'
import type { Items } from './items.ts'
import { rowKey } from './keys.ts'
import { containerCodec } from './row-shapes.ts'

type Verbs = Pick<ContainerStore, 'claimHibernation' | 'renewHibernation' | 'hibernate' | 'endHibernation' | 'beginRestore' | 'endRestore'>

const isLive = all(exists('pk'), absent('deletedAt'))
const isUnused = all(shorterThan('queue', 1), any(absent('commands'), shorterThan('commands', 1)))
const isClaim = (objectKey: string): Condition => equals('hibernating.objectKey', objectKey)
const isSnapshot = (objectKey: string): Condition => equals('snapshot.objectKey', objectKey)

/** Operations for hibernation and restore; each is one conditional write. */
export function createHibernationVerbs(items: Items): Verbs {
  const update = async (tenant: string, id: string, actions: readonly Action[], condition: Condition): Promise<Container | null> => {
    const item = await items.update(rowKey(tenant, 'container', id), actions, condition)
    return item === null ? null : containerCodec.decode(item)
  }
  /** The client repeats a write whose reply was lost, so a refused write may have succeeded in this call. */
  const unless = async (tenant: string, id: string, isDone: (row: Container) => boolean): Promise<Container | null> => {
    const item = await items.get(rowKey(tenant, 'container', id))
    const row = item === null ? null : containerCodec.decode(item)
    return row !== null && row.deletedAt === null && isDone(row) ? row : null
  }

  return {
    async claimHibernation(tenant, id, { generation, lastActiveAt }, claim, now) {
      const isIdle = all(equals('generation', generation), exists('sandboxId'), equals('lastActiveAt', lastActiveAt), isUnused)
      const isFree = any(absent('hibernating'), atMost('hibernating.expiresAt', now))
      const actions = [set('hibernating', claim), set('dueAt', claim.expiresAt)]
      return (
        (await update(tenant, id, actions, all(isLive, isIdle, isFree))) ??
        (await unless(tenant, id, (row) => row.hibernating?.objectKey === claim.objectKey))
      )
    },

    renewHibernation: (tenant, id, objectKey, expiresAt) =>
      update(tenant, id, [set('hibernating.expiresAt', expiresAt)], all(isLive, isClaim(objectKey))),

    async hibernate(tenant, id, objectKey, { snapshot, stateLost, dueAt }) {
      const actions = [
        remove('hibernating'),
        remove('sandboxId'),
        assign('snapshot', snapshot),
        assign('stateLost', stateLost),
        set('dueAt', dueAt),
      ]
      return (
        (await update(tenant, id, actions, all(isLive, isClaim(objectKey), isUnused))) ??
        (await unless(tenant, id, (row) => row.snapshot?.objectKey === objectKey))
      )
    },

    endHibernation: (tenant, id, objectKey) => update(tenant, id, [remove('hibernating')], isClaim(objectKey)),

    async beginRestore(tenant, id, generation, objectKey) {
      const isFirst = any(absent('snapshot.triedBy'), below('snapshot.triedBy', generation))
      const isAllowed = all(isLive, equals('generation', generation), isSnapshot(objectKey), equals('snapshot.isRestored', false))
      const actions = [increment('snapshot.tries'), set('snapshot.triedBy', generation)]
      return (
        (await update(tenant, id, actions, all(isAllowed, isFirst))) ??
        // The same sandbox tries again.
        (await unless(tenant, id, (row) => {
          const { snapshot } = row
          return (
            row.generation === generation && snapshot?.objectKey === objectKey && !snapshot.isRestored && snapshot.triedBy === generation
          )
        }))
      )
    },

    endRestore: (tenant, id, generation, objectKey) =>
      update(tenant, id, [set('snapshot.isRestored', true)], all(isLive, equals('generation', generation), isSnapshot(objectKey))),
  }
}
