import type { Action, Condition } from '../rows/expression.ts'

/** Prints conditions and actions as DynamoDB expressions. Names and values are placeholders, so no value becomes syntax. */
export class ExpressionPrinter {
  readonly names: Record<string, string> = {}
  readonly values: Record<string, unknown> = {}
  #count = 0

  condition(condition: Condition): string {
    switch (condition.kind) {
      case 'exists':
        return `attribute_exists(${this.#path(condition.path)})`
      case 'absent':
        return `attribute_not_exists(${this.#path(condition.path)})`
      case 'compare':
        return `${this.#path(condition.path)} ${condition.operator} ${this.#value(condition.value)}`
      case 'startsWith':
        return `begins_with(${this.#path(condition.path)}, ${this.#value(condition.prefix)})`
      case 'between':
        return `${this.#path(condition.path)} BETWEEN ${this.#value(condition.from)} AND ${this.#value(condition.to)}`
      case 'oneOf':
        return `${this.#path(condition.path)} IN (${condition.values.map((value) => this.#value(value)).join(', ')})`
      case 'lacks':
        return `NOT contains(${this.#path(condition.path)}, ${this.#value(condition.value)})`
      case 'shorterThan':
        return `size(${this.#path(condition.path)}) < ${this.#value(condition.length)}`
      case 'any':
        return condition.conditions.map((inner) => this.condition(inner)).join(' OR ')
      case 'all':
        // AND binds closer than OR.
        return condition.conditions
          .map((inner) => (inner.kind === 'any' ? `(${this.condition(inner)})` : this.condition(inner)))
          .join(' AND ')
    }
  }

  update(actions: readonly Action[]): string {
    const removals = actions.filter((action) => action.kind === 'remove').map(({ path }) => this.#path(path))
    const settings = actions.filter((action) => action.kind !== 'remove').map((action) => this.#setting(action))
    return [settings.length === 0 ? '' : `SET ${settings.join(', ')}`, removals.length === 0 ? '' : `REMOVE ${removals.join(', ')}`]
      .filter((clause) => clause !== '')
      .join(' ')
  }

  #setting(action: Exclude<Action, { readonly kind: 'remove' }>): string {
    const path = this.#path(action.path)
    switch (action.kind) {
      case 'set':
        return `${path} = ${this.#value(action.value)}`
      case 'setOnce':
        return `${path} = if_not_exists(${path}, ${this.#value(action.value)})`
      case 'copy':
        return `${path} = ${this.#path(action.from)}`
      case 'increment':
        return `${path} = ${path} + ${this.#value(1)}`
      case 'add':
        return `${path} = if_not_exists(${path}, ${this.#value(0)}) + ${this.#value(action.value)}`
      case 'append':
        return `${path} = list_append(${path}, ${this.#value([action.value])})`
    }
  }

  #path(path: string): string {
    return path
      .split('.')
      .map((segment) => {
        const [, field = segment, index = ''] = /^(\w+)(\[\d+\])?$/.exec(segment) ?? []
        this.names[`#${field}`] = field
        return `#${field}${index}`
      })
      .join('.')
  }

  #value(value: unknown): string {
    const placeholder = `:v${this.#count++}`
    this.values[placeholder] = value
    return placeholder
  }
}
