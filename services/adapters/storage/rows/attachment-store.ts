import type { AttachedContainer, AttachmentStore } from '../../../ports/attachment-store.ts'
import { absent, all, any, assign, atMost, equals, set, startsWith } from './expression.ts'
import type { Items } from './items.ts'
import { part, type ItemKey } from './keys.ts'
import type { Item } from './row-codec.ts'

const PARTITION = 'S#network'
const PREFIX = 'attached#'
const LEADER: ItemKey = { pk: PARTITION, sk: 'leader' }

const keyOf = (containerId: string): ItemKey => ({ pk: PARTITION, sk: PREFIX + part(containerId) })
const textOrNull = (value: unknown): string | null => (typeof value === 'string' ? value : null)

const decode = (item: Item): AttachedContainer => ({
  tenant: String(item['tenant']),
  containerId: String(item['containerId']),
  sandboxId: String(item['sandboxId']),
  version: String(item['version']),
  served: textOrNull(item['served']),
  problem: textOrNull(item['problem']),
})

/** One partition, which the gateway reads as a whole. */
export const createAttachmentStore = (items: Items): AttachmentStore => ({
  async request(wanted, expiresAt) {
    await items.put({ ...keyOf(wanted.containerId), ...wanted, ttl: Math.ceil(expiresAt / 1000) })
  },
  async get(containerId) {
    const item = await items.get(keyOf(containerId))
    return item === null ? null : decode(item)
  },
  async list() {
    const rows: AttachedContainer[] = []
    let startKey: Item | undefined
    do {
      const page = await items.query({ where: all(equals('pk', PARTITION), startsWith('sk', PREFIX)), startKey })
      rows.push(...page.items.map(decode))
      startKey = page.lastKey
    } while (startKey !== undefined)
    return rows
  },
  settle: async (containerId, { version, problem }) =>
    (await items.update(keyOf(containerId), [set('served', version), assign('problem', problem)], {
      condition: equals('version', version),
    })) !== null,
  async remove(containerId) {
    await items.delete(keyOf(containerId))
  },
  lead: ({ holder, expiresAt, sealingKey }, now) =>
    items.put(
      { ...LEADER, holder, expiresAt, ...(sealingKey === null ? {} : { sealingKey }) },
      any(absent('pk'), equals('holder', holder), atMost('expiresAt', now)),
    ),
  async leader() {
    const item = await items.get(LEADER)
    return item === null
      ? null
      : { holder: String(item['holder']), expiresAt: Number(item['expiresAt']), sealingKey: textOrNull(item['sealingKey']) }
  },
})
