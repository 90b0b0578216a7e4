import type { AttributeValue } from '@aws-sdk/client-dynamodb'

export type Attributes = Record<string, AttributeValue>

/** A value as DynamoDB writes it. Rows contain text, safe integers, booleans, lists and maps; any other value throws. */
export function toAttribute(value: unknown): AttributeValue {
  if (typeof value === 'string') return { S: value }
  if (typeof value === 'number' && Number.isFinite(value)) return { N: String(value) }
  if (typeof value === 'boolean') return { BOOL: value }
  if (Array.isArray(value)) return { L: value.map(toAttribute) }
  if (typeof value === 'object' && value !== null) return { M: toAttributes(value) }
  throw new TypeError(`A row cannot hold the value ${String(value)}.`)
}

export function toAttributes(item: object): Attributes {
  const attributes: Attributes = {}
  for (const [name, value] of Object.entries(item)) if (value !== undefined) attributes[name] = toAttribute(value)
  return attributes
}

export function fromAttribute(attribute: AttributeValue): unknown {
  if (attribute.S !== undefined) return attribute.S
  if (attribute.N !== undefined) return Number(attribute.N)
  if (attribute.BOOL !== undefined) return attribute.BOOL
  if (attribute.L !== undefined) return attribute.L.map(fromAttribute)
  if (attribute.M !== undefined) return fromAttributes(attribute.M)
  throw new TypeError('A row holds a kind of value that no store writes.')
}

export function fromAttributes(attributes: Attributes): Record<string, unknown> {
  const item: Record<string, unknown> = {}
  for (const [name, attribute] of Object.entries(attributes)) item[name] = fromAttribute(attribute)
  return item
}
