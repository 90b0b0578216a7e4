import { monotonicFactory } from 'ulid'

/** Every kind of id and its wire prefix. An id is the prefix and a ULID, so ids of one kind sort by time of creation. */
export const ID_PREFIXES = {
  container: 'cntr_',
  execution: 'exec_',
  response: 'resp_',
  containerFile: 'cfile_',
  file: 'file-',
  sandbox: 'sbx_',
  tenant: 'tnt_',
  key: 'key_',
  link: 'link_',
  message: 'msg_',
  call: 'ci_',
  functionCall: 'fc_',
  request: 'req_',
  worker: 'wrk_',
} as const
export type IdKind = keyof typeof ID_PREFIXES

const nextUlid = monotonicFactory()

export const newId = (kind: IdKind): string => ID_PREFIXES[kind] + nextUlid().toLowerCase()

/** Says whether a string has the form of an id of this kind; it need not exist. */
export const isId = (kind: IdKind, value: string): boolean =>
  value.startsWith(ID_PREFIXES[kind]) && /^[0-9a-z]{20,40}$/.test(value.slice(ID_PREFIXES[kind].length))
