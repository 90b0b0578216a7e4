import { createHash, randomInt } from 'node:crypto'
import { decodeTime, encodeTime, monotonicFactory } from 'ulid'

/** Every kind of id and its wire prefix. An id is the prefix and a ULID, so ids of one kind sort by time of creation. */
export const ID_PREFIXES = {
  container: 'cntr_',
  snapshot: 'snap_',
  execution: 'exec_',
  command: 'cmd_',
  response: 'resp_',
  containerFile: 'cfile_',
  file: 'file-',
  skill: 'skill_',
  upload: 'upload_',
  part: 'part_',
  conversation: 'conv_',
  item: 'item_',
  sandbox: 'sbx_',
  tenant: 'tnt_',
  key: 'key_',
  link: 'link_',
  share: 'share_',
  webhook: 'whe_',
  delivery: 'whd_',
  event: 'evt_',
  message: 'msg_',
  reasoning: 'rs_',
  call: 'ci_',
  functionCall: 'fc_',
  search: 'ws_',
  shellCall: 'sh_',
  shellOutput: 'sho_',
  patch: 'apc_',
  compaction: 'cmp_',
  request: 'req_',
  worker: 'wrk_',
} as const
export type IdKind = keyof typeof ID_PREFIXES

/** `randomInt` uses Node's pool of random bytes; the package's default calls the system for each of the sixteen digits. */
const nextUlid = monotonicFactory(() => randomInt(32) / 32)

export const newId = (kind: IdKind): string => ID_PREFIXES[kind] + nextUlid().toLowerCase()

/**
 * A deterministic id, so that a repeated step computes the same one: time `at` (epoch ms) and a hash of `seed`. It sorts like other ids of its
 * kind. The seed must be unique, for example a response's id and the position of a call.
 */
export function derivedId(kind: IdKind, at: number, seed: string): string {
  const hash = createHash('sha256').update(seed).digest()
  const tail = Array.from(hash.subarray(0, 16), (byte) => BASE32[byte % 32]).join('')
  return ID_PREFIXES[kind] + encodeTime(at, 10).toLowerCase() + tail
}
const BASE32 = '0123456789abcdefghjkmnpqrstvwxyz'

/** Whether a string has the form of an id of this kind; the id need not exist. */
export const isId = (kind: IdKind, value: string): boolean =>
  value.startsWith(ID_PREFIXES[kind]) && /^[0-9a-z]{20,40}$/.test(value.slice(ID_PREFIXES[kind].length))

/** When an id was created, epoch ms; null if the string is not an id of this kind. */
export const idTime = (kind: IdKind, value: string): number | null => {
  const ulid = value.slice(ID_PREFIXES[kind].length)
  return isId(kind, value) && /^[0-7][0-9a-hjkmnp-tv-z]{25}$/.test(ulid) ? decodeTime(ulid.toUpperCase()) : null
}
