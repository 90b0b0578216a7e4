import { createHash, randomInt } from 'node:crypto'
import { decodeTime, encodeTime, monotonicFactory } from 'ulid'

/** Every kind of id and its wire prefix. An id is the prefix and a ULID, so ids of one kind sort by time of creation. */
export const ID_PREFIXES = {
  container: 'cntr_',
  execution: 'exec_',
  response: 'resp_',
  containerFile: 'cfile_',
  file: 'file-',
  upload: 'upload_',
  part: 'part_',
  conversation: 'conv_',
  item: 'item_',
  sandbox: 'sbx_',
  tenant: 'tnt_',
  key: 'key_',
  link: 'link_',
  message: 'msg_',
  call: 'ci_',
  functionCall: 'fc_',
  search: 'ws_',
  request: 'req_',
  worker: 'wrk_',
} as const
export type IdKind = keyof typeof ID_PREFIXES

/** Digits come out of Node's own store of random bytes; the package would ask the system for each of the sixteen. */
const nextUlid = monotonicFactory(() => randomInt(32) / 32)

export const newId = (kind: IdKind): string => ID_PREFIXES[kind] + nextUlid().toLowerCase()

/**
 * The id that every repetition of a step finds again: time `at` (epoch ms) and a hash of `seed` instead of chance, so it sorts as others of
 * its kind do. The seed must name one thing only, for example a response's id and the position of a call.
 */
export function derivedId(kind: IdKind, at: number, seed: string): string {
  const hash = createHash('sha256').update(seed).digest()
  const tail = Array.from(hash.subarray(0, 16), (byte) => BASE32[byte % 32]).join('')
  return ID_PREFIXES[kind] + encodeTime(at, 10).toLowerCase() + tail
}
const BASE32 = '0123456789abcdefghjkmnpqrstvwxyz'

/** Says whether a string has the form of an id of this kind; it need not exist. */
export const isId = (kind: IdKind, value: string): boolean =>
  value.startsWith(ID_PREFIXES[kind]) && /^[0-9a-z]{20,40}$/.test(value.slice(ID_PREFIXES[kind].length))

/** When an id of this kind was made, epoch ms; null for what is none. */
export const idTime = (kind: IdKind, value: string): number | null => {
  const ulid = value.slice(ID_PREFIXES[kind].length)
  return isId(kind, value) && /^[0-7][0-9a-hjkmnp-tv-z]{25}$/.test(ulid) ? decodeTime(ulid.toUpperCase()) : null
}
