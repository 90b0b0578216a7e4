import { useState } from 'preact/hooks'

const MAX_CHILDREN = 100
const OPEN_DEPTH = 2

/** JSON as a tree whose branches open and close. Long branches show their first entries. */
export function JsonTree({ value, name, depth = 0 }: { readonly value: unknown; readonly name?: string; readonly depth?: number }) {
  const [isOpen, setOpen] = useState(depth < OPEN_DEPTH)
  const label = name === undefined ? null : <span class="json-name">{name}: </span>
  if (typeof value !== 'object' || value === null)
    return (
      <div class="json-leaf">
        {label}
        <span class={`json-${value === null ? 'null' : typeof value}`}>{JSON.stringify(value)}</span>
      </div>
    )
  const children = Object.entries(value)
  const size = Array.isArray(value) ? `[${children.length}]` : `{${children.length}}`
  return (
    <details class="json-branch" open={isOpen} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        {label}
        <span class="json-size">{size}</span>
      </summary>
      {isOpen && children.slice(0, MAX_CHILDREN).map(([key, child]) => <JsonTree key={key} name={key} value={child} depth={depth + 1} />)}
      {isOpen && children.length > MAX_CHILDREN && <div class="json-leaf">… {children.length - MAX_CHILDREN} more</div>}
    </details>
  )
}
