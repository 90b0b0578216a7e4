import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { Icon, type IconName } from '../render/icons.tsx'

/**
 * A button for what nothing brings back: the first click asks `question`, the second one acts. Leaving the button takes the question back. `of` is what
 * it acts on, for readers who do not see the row.
 */
export function ConfirmButton({
  label,
  question,
  of,
  icon,
  onConfirm,
  children,
}: {
  readonly label: string
  readonly question: string
  readonly of?: string
  readonly icon?: IconName
  readonly onConfirm: () => void
  /** Beside the label, until the question is asked. */
  readonly children?: ComponentChildren
}) {
  const [isAsked, setAsked] = useState(false)
  const click = (): void => {
    setAsked(!isAsked)
    if (isAsked) onConfirm()
  }
  return (
    <button type="button" class={`plain ${isAsked ? 'danger' : ''}`} onClick={click} onBlur={() => setAsked(false)}>
      {icon !== undefined && <Icon name={icon} />} {isAsked ? question : label}
      {of !== undefined && <span class="hidden"> {of}</span>}
      {!isAsked && children}
    </button>
  )
}
