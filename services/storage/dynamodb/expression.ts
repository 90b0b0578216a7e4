/** Collects the names and values of one request, so that expressions are built from data and never from values. */
export class Expression {
  readonly names: Record<string, string> = {}
  readonly values: Record<string, unknown> = {}
  #count = 0

  /** A path such as `status`, `lease.expiresAt` or `queue[0]`, with every segment behind a placeholder. */
  path(path: string): string {
    return path
      .split('.')
      .map((segment) => {
        const [, field = segment, index = ''] = /^(\w+)(\[\d+\])?$/.exec(segment) ?? []
        this.names[`#${field}`] = field
        return `#${field}${index}`
      })
      .join('.')
  }

  value(value: unknown): string {
    const placeholder = `:v${this.#count++}`
    this.values[placeholder] = value
    return placeholder
  }
}

/**
 * A condition as the alternatives of which one must hold, each without OR and brackets: AND binds closer. The embedded DynamoDB takes ten
 * times as long to read brackets as it takes for a part that is said twice.
 */
export interface Condition {
  readonly alternatives: (e: Expression) => readonly string[]
}
const test = (text: (e: Expression) => string): Condition => ({ alternatives: (e) => [text(e)] })
export const conditionText = (condition: Condition, e: Expression): string => condition.alternatives(e).join(' OR ')
export const exists = (path: string): Condition => test((e) => `attribute_exists(${e.path(path)})`)
export const absent = (path: string): Condition => test((e) => `attribute_not_exists(${e.path(path)})`)
export const equals = (path: string, value: unknown): Condition => test((e) => `${e.path(path)} = ${e.value(value)}`)
export const below = (path: string, value: unknown): Condition => test((e) => `${e.path(path)} < ${e.value(value)}`)
export const above = (path: string, value: unknown): Condition => test((e) => `${e.path(path)} > ${e.value(value)}`)
export const atMost = (path: string, value: unknown): Condition => test((e) => `${e.path(path)} <= ${e.value(value)}`)
export const startsWith = (path: string, prefix: string): Condition => test((e) => `begins_with(${e.path(path)}, ${e.value(prefix)})`)
export const between = (path: string, from: unknown, to: unknown): Condition =>
  test((e) => `${e.path(path)} BETWEEN ${e.value(from)} AND ${e.value(to)}`)
export const oneOf = (path: string, values: readonly unknown[]): Condition =>
  test((e) => `${e.path(path)} IN (${values.map((value) => e.value(value)).join(', ')})`)
export const lacks = (path: string, value: unknown): Condition => test((e) => `NOT contains(${e.path(path)}, ${e.value(value)})`)
export const shorterThan = (path: string, length: number): Condition => test((e) => `size(${e.path(path)}) < ${e.value(length)}`)
export const any = (...inner: readonly Condition[]): Condition => ({ alternatives: (e) => inner.flatMap((one) => one.alternatives(e)) })
export const all = (...inner: readonly Condition[]): Condition => ({
  alternatives: (e) =>
    inner
      .map((one) => one.alternatives(e))
      .reduce((left, right) => left.flatMap((before) => right.map((after) => `${before} AND ${after}`))),
})

/** One part of an update. */
export interface Action {
  readonly clause: 'SET' | 'REMOVE'
  readonly text: (e: Expression) => string
}
const setting = (text: Action['text']): Action => ({ clause: 'SET', text })
export const set = (path: string, value: unknown): Action => setting((e) => `${e.path(path)} = ${e.value(value)}`)
/** Keeps what is there already. */
export const setOnce = (path: string, value: unknown): Action =>
  setting((e) => `${e.path(path)} = if_not_exists(${e.path(path)}, ${e.value(value)})`)
export const copy = (path: string, from: string): Action => setting((e) => `${e.path(path)} = ${e.path(from)}`)
export const increment = (path: string): Action => setting((e) => `${e.path(path)} = ${e.path(path)} + ${e.value(1)}`)
export const append = (path: string, value: unknown): Action =>
  setting((e) => `${e.path(path)} = list_append(${e.path(path)}, ${e.value([value])})`)
export const remove = (path: string): Action => ({ clause: 'REMOVE', text: (e) => e.path(path) })
/** A row has no attribute for null. */
export const assign = (path: string, value: unknown): Action => (value === null ? remove(path) : set(path, value))

export function updateText(e: Expression, actions: readonly Action[]): string {
  const parts = (['SET', 'REMOVE'] as const).map((clause) => {
    const texts = actions.filter((action) => action.clause === clause).map((action) => action.text(e))
    return texts.length === 0 ? '' : `${clause} ${texts.join(', ')}`
  })
  return parts.filter((part) => part !== '').join(' ')
}
