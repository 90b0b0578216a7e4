import type { Container } from '../../../model/containers/container.ts'
import type { Action } from './expression.ts'
import type { Items, UpdateOptions } from './items.ts'
import { rowKey } from './keys.ts'
import type { Item } from './row-codec.ts'
import { containerCodec } from './row-shapes.ts'

const decode = (item: Item | null): Container | null => (item === null ? null : containerCodec.decode(item))

export const getContainer = async (items: Items, tenant: string, id: string): Promise<Container | null> =>
  decode(await items.get(rowKey(tenant, 'container', id)))

/** One conditional write. Null when the condition does not hold. */
export const updateContainer = async (
  items: Items,
  { tenant, id }: { readonly tenant: string; readonly id: string },
  write: UpdateOptions & { readonly actions: readonly Action[] },
): Promise<Container | null> => decode(await items.update(rowKey(tenant, 'container', id), write.actions, write))
