import type { Action, Condition } from '../rows/expression.ts'
import type { Item } from '../rows/row-codec.ts'

type Segment = string | number

/** `queue[0]` as `['queue', 0]`. Paths are constants of the stores, so their number is bounded. */
const paths = new Map<string, readonly Segment[]>()
function segmentsOf(path: string): readonly Segment[] {
  const known = paths.get(path)
  if (known !== undefined) return known
  const segments = path.split('.').flatMap((segment): Segment[] => {
    const [, field = segment, index] = /^(\w+)(?:\[(\d+)\])?$/.exec(segment) ?? []
    return index === undefined ? [field] : [field, Number(index)]
  })
  paths.set(path, segments)
  return segments
}

function valueAt(item: Item, path: string): unknown {
  let value: unknown = item
  for (const segment of segmentsOf(path)) {
    if (typeof value !== 'object' || value === null) return undefined
    value = (value as Record<Segment, unknown>)[segment]
  }
  return value
}

/** Whether the condition holds for the item; null stands for no item. As in DynamoDB, values of different types do not compare. */
export function holds(item: Item | null, condition: Condition): boolean {
  if (condition.kind === 'all') return condition.conditions.every((inner) => holds(item, inner))
  if (condition.kind === 'any') return condition.conditions.some((inner) => holds(item, inner))
  const value = item === null ? undefined : valueAt(item, condition.path)
  switch (condition.kind) {
    case 'exists':
      return value !== undefined
    case 'absent':
      return value === undefined
    case 'compare':
      return comparison(value, condition.operator, condition.value)
    case 'startsWith':
      return typeof value === 'string' && value.startsWith(condition.prefix)
    case 'between':
      return comparison(condition.from, '<=', value) && comparison(value, '<=', condition.to)
    case 'oneOf':
      return condition.values.includes(value)
    case 'lacks':
      return !(Array.isArray(value) && value.includes(condition.value))
    case 'shorterThan':
      return Array.isArray(value) && value.length < condition.length
  }
}

function comparison(left: unknown, operator: '=' | '<' | '>' | '<=', right: unknown): boolean {
  if (operator === '=') return left === right
  if (typeof left === 'number' && typeof right === 'number') return isOrdered(left - right, operator)
  if (typeof left === 'string' && typeof right === 'string')
    return isOrdered(Buffer.compare(Buffer.from(left), Buffer.from(right)), operator)
  return false
}
const isOrdered = (difference: number, operator: '<' | '>' | '<='): boolean =>
  operator === '<' ? difference < 0 : operator === '>' ? difference > 0 : difference <= 0

/** The item after the actions, which all read the item as it was before. Throws when a path does not exist, as DynamoDB refuses it. */
export function applyActions(before: Item, actions: readonly Action[]): Item {
  const after = { ...before }
  for (const action of actions) {
    const value = newValue(before, action)
    if (value === undefined) removeAt(after, action.path)
    else setAt(after, action.path, value)
  }
  return after
}

/** Undefined removes the attribute. */
function newValue(before: Item, action: Action): unknown {
  const current = valueAt(before, action.path)
  switch (action.kind) {
    case 'set':
      return action.value
    case 'setOnce':
      return current ?? action.value
    case 'remove':
      return undefined
    case 'copy': {
      const source = valueAt(before, action.from)
      if (source === undefined) throw new Error(`The attribute ${action.from} does not exist and cannot be copied.`)
      return source
    }
    case 'increment':
      if (typeof current !== 'number') throw new Error(`The attribute ${action.path} is not a number and cannot be incremented.`)
      return current + 1
    case 'add':
      return (typeof current === 'number' ? current : 0) + action.value
    case 'append':
      if (!Array.isArray(current)) throw new Error(`The attribute ${action.path} is not a list and cannot be appended to.`)
      return [...current, action.value]
  }
}

/** The map or list that contains the attribute. It and those around it are replaced by copies, because the item before shares them. */
function parentOf(item: Item, path: string): { readonly parent: Record<Segment, unknown> | null; readonly last: Segment } {
  const segments = segmentsOf(path)
  let parent: Record<Segment, unknown> = item
  for (const segment of segments.slice(0, -1)) {
    const child = parent[segment]
    if (typeof child !== 'object' || child === null) return { parent: null, last: segment }
    parent = parent[segment] = (Array.isArray(child) ? [...child] : { ...child }) as Record<Segment, unknown>
  }
  return { parent, last: segments.at(-1) ?? path }
}

function setAt(item: Item, path: string, value: unknown): void {
  const { parent, last } = parentOf(item, path)
  if (parent === null) throw new Error(`The path ${path} does not exist in the item and cannot be set.`)
  parent[last] = value
}

function removeAt(item: Item, path: string): void {
  const { parent, last } = parentOf(item, path)
  if (Array.isArray(parent) && typeof last === 'number') parent.splice(last, 1)
  else if (parent !== null) delete parent[last]
}
