/** A test of one stored item. A path is `status`, `lease.expiresAt` or `queue[0]`. No comparison holds for a missing attribute. */
export type Condition =
  | { readonly kind: 'exists' | 'absent'; readonly path: string }
  | { readonly kind: 'compare'; readonly operator: '=' | '<' | '>' | '<='; readonly path: string; readonly value: unknown }
  | { readonly kind: 'startsWith'; readonly path: string; readonly prefix: string }
  | { readonly kind: 'between'; readonly path: string; readonly from: unknown; readonly to: unknown }
  | { readonly kind: 'oneOf'; readonly path: string; readonly values: readonly unknown[] }
  /** The list does not contain the value, or does not exist. */
  | { readonly kind: 'lacks'; readonly path: string; readonly value: unknown }
  | { readonly kind: 'shorterThan'; readonly path: string; readonly length: number }
  | { readonly kind: 'all'; readonly conditions: readonly Condition[] }
  | { readonly kind: 'any'; readonly conditions: readonly Condition[] }

/** One change of an update. Every action reads the item as it was before the update. */
export type Action =
  | { readonly kind: 'set' | 'setOnce'; readonly path: string; readonly value: unknown }
  | { readonly kind: 'copy'; readonly path: string; readonly from: string }
  | { readonly kind: 'increment'; readonly path: string }
  | { readonly kind: 'add'; readonly path: string; readonly value: number }
  | { readonly kind: 'remove'; readonly path: string }
  | { readonly kind: 'append'; readonly path: string; readonly value: unknown }

const compare =
  (operator: '=' | '<' | '>' | '<=') =>
  (path: string, value: unknown): Condition => ({ kind: 'compare', operator, path, value })

export const exists = (path: string): Condition => ({ kind: 'exists', path })
export const absent = (path: string): Condition => ({ kind: 'absent', path })
export const equals = compare('=')
export const below = compare('<')
export const above = compare('>')
export const atMost = compare('<=')
export const startsWith = (path: string, prefix: string): Condition => ({ kind: 'startsWith', path, prefix })
export const between = (path: string, from: unknown, to: unknown): Condition => ({ kind: 'between', path, from, to })
export const oneOf = (path: string, values: readonly unknown[]): Condition => ({ kind: 'oneOf', path, values })
export const lacks = (path: string, value: unknown): Condition => ({ kind: 'lacks', path, value })
export const shorterThan = (path: string, length: number): Condition => ({ kind: 'shorterThan', path, length })
export const any = (...conditions: readonly Condition[]): Condition => ({ kind: 'any', conditions })
export const all = (...conditions: readonly Condition[]): Condition => ({ kind: 'all', conditions })

export const set = (path: string, value: unknown): Action => ({ kind: 'set', path, value })
/** Keeps an existing value. */
export const setOnce = (path: string, value: unknown): Action => ({ kind: 'setOnce', path, value })
export const copy = (path: string, from: string): Action => ({ kind: 'copy', path, from })
export const increment = (path: string): Action => ({ kind: 'increment', path })
/** Counts from 0 where the attribute is missing. */
export const add = (path: string, value: number): Action => ({ kind: 'add', path, value })
export const append = (path: string, value: unknown): Action => ({ kind: 'append', path, value })
export const remove = (path: string): Action => ({ kind: 'remove', path })
/** Null is stored as no attribute. */
export const assign = (path: string, value: unknown): Action => (value === null ? remove(path) : set(path, value))
