import type { Resource, StackName, Templates } from './synthesise.ts'

/** Something that must be true of the templates, and a change that makes it untrue: the check is worth only what it catches. */
export interface Property {
  readonly title: string
  readonly holds: (templates: Templates) => boolean
  readonly break: (templates: Templates) => void
}

/** All resources of a type, in one stack or in all of them. */
export function all(templates: Templates, type: string, stack?: StackName): Resource[] {
  const wanted = stack === undefined ? Object.values(templates) : [templates[stack]]
  return wanted.flatMap(({ Resources }) => Object.values(Resources).filter((resource) => resource.Type === type))
}

export function only(templates: Templates, type: string, stack?: StackName): Resource {
  const [first, ...rest] = all(templates, type, stack)
  if (first === undefined || rest.length > 0) throw new Error(`Expected one ${type}, found ${rest.length + (first ? 1 : 0)}`)
  return first
}

/** The resource whose logical id begins so. */
export function named(templates: Templates, stack: StackName, prefix: string, type: string): Resource {
  const found = Object.entries(templates[stack].Resources).filter(([id, { Type }]) => id.startsWith(prefix) && Type === type)
  if (found.length !== 1) throw new Error(`Expected one ${type} named ${prefix}…, found ${found.map(([id]) => id).join(', ') || 'none'}`)
  return (found[0] as [string, Resource])[1]
}

/** The value at a path such as `Properties.Tags.0.Key`; undefined when a part is missing. */
export const at = (root: unknown, path: string): unknown =>
  path
    .split('.')
    .reduce<unknown>(
      (value, part) => (typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[part] : undefined),
      root,
    )

export function set(root: unknown, path: string, value: unknown): void {
  const parts = path.split('.')
  const last = parts.pop() as string
  const parent = parts.length === 0 ? root : at(root, parts.join('.'))
  if (typeof parent !== 'object' || parent === null) throw new Error(`Nothing at ${path}`)
  if (value === undefined) delete (parent as Record<string, unknown>)[last]
  else (parent as Record<string, unknown>)[last] = value
}

export const list = (value: unknown): unknown[] => (Array.isArray(value) ? value : value === undefined ? [] : [value])
export const same = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other)
export const says = (value: unknown, text: string): boolean => (JSON.stringify(value) ?? '').includes(text)
export const isAbsent = (value: unknown): boolean => value === undefined || (Array.isArray(value) && value.length === 0)

export interface Statement {
  Effect: string
  Action: unknown
  Resource: unknown
  Principal?: unknown
  Condition?: Record<string, Record<string, unknown>>
  Sid?: string
}
export const statements = (policy: unknown): Statement[] => list(at(policy, 'Statement')) as Statement[]
export const actions = (statement: Statement): string[] => list(statement.Action) as string[]

/** A property of one place: it has this value, and stops holding with that one. */
export const value = (title: string, find: (templates: Templates) => unknown, path: string, wanted: unknown, wrong: unknown): Property => ({
  title,
  holds: (templates) => same(at(find(templates), path), wanted),
  break: (templates) => set(find(templates), path, wrong),
})

export function first<T>(items: readonly T[]): T {
  const [item] = items
  if (item === undefined) throw new Error('Expected at least one')
  return item
}
