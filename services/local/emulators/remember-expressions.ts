import { createRequire } from 'node:module'

/** A parser of dynalite, made by PEG.js. It answers an expression, or a text that says what is wrong with it. */
interface Parser {
  parse(text: string, options: { readonly context: Context }): unknown
}
interface Context {
  readonly attrNames?: Readonly<Record<string, string>>
  readonly attrVals?: Readonly<Record<string, object>>
  /** The parser takes out what it meets. */
  readonly unusedAttrNames: Record<string, true>
  readonly unusedAttrVals: Record<string, true>
}

interface Remembered {
  readonly expression: unknown
  readonly names: readonly string[]
  readonly values: readonly string[]
}

/** A place of an expression where each request has its own value. */
class Slot {
  readonly name: string
  constructor(name: string) {
    this.name = name
  }
}

/** The stores of this program write some dozens. */
const MAX_EXPRESSIONS = 500
/** Here it is the value, not only its type, that the parser judges. */
const JUDGES_VALUES = /between|attribute_type/i

let isDone = false

/**
 * Has dynalite's parsers remember what they read: the same expression with the same names and types of values is the same again, but for the values.
 * Otherwise reading takes a third of a write's time. For all tables of this process; once is enough.
 */
export function rememberExpressions(): void {
  if (isDone) return
  isDone = true
  const requireOfDynalite = createRequire(createRequire(import.meta.url).resolve('dynalite'))
  for (const name of ['conditionParser', 'updateParser']) remember(requireOfDynalite(`./db/${name}`) as Parser)
}

/** What is refused is not remembered, and each request gets a copy, because some of them change theirs. */
function remember(parser: Parser): void {
  const parse = parser.parse.bind(parser)
  const known = new Map<string, Remembered>()

  parser.parse = (text, options) => {
    if (JUDGES_VALUES.test(text)) return parse(text, options)
    const { attrNames = {}, attrVals = {}, unusedAttrNames, unusedAttrVals } = options.context
    const values = Object.entries(attrVals)
    const key = JSON.stringify([text, attrNames, values.map(([name, value]) => [name, ...Object.keys(value)])])
    const remembered = known.get(key)
    if (remembered !== undefined) {
      for (const name of remembered.names) delete unusedAttrNames[name]
      for (const name of remembered.values) delete unusedAttrVals[name]
      return mapLeaves(remembered.expression, (leaf) => (leaf instanceof Slot ? attrVals[leaf.name] : undefined))
    }
    const before = { names: Object.keys(unusedAttrNames), values: Object.keys(unusedAttrVals) }
    const expression = parse(text, options)
    if (typeof expression === 'string') return expression
    const slots = new Map<unknown, Slot>(values.map(([name, value]) => [value, new Slot(name)]))
    known.set(key, {
      expression: mapLeaves(expression, (leaf) => slots.get(leaf)),
      names: before.names.filter((name) => !(name in unusedAttrNames)),
      values: before.values.filter((name) => !(name in unusedAttrVals)),
    })
    if (known.size > MAX_EXPRESSIONS) known.delete(known.keys().next().value as string)
    return expression
  }
}

/** A copy in which what `replace` answers stands for a part; undefined leaves the part. */
function mapLeaves(part: unknown, replace: (part: object) => unknown): unknown {
  if (typeof part !== 'object' || part === null) return part
  const replaced = replace(part)
  if (replaced !== undefined) return replaced
  if (Array.isArray(part)) return part.map((inner) => mapLeaves(inner, replace))
  // Names of attributes are keys here, and any name is one.
  const copy = Object.create(null) as Record<string, unknown>
  for (const key in part) copy[key] = mapLeaves((part as Record<string, unknown>)[key], replace)
  return copy
}
