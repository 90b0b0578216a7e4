import type { ComponentChildren } from 'preact'
import { useId, useRef, useState } from 'preact/hooks'
import { Icon, type IconName } from '../render/icons.tsx'

interface MenuItem {
  readonly label: string
  readonly icon?: IconName
  readonly isDanger?: boolean
  /** For what nothing brings back: the first choice shows this question, the second one acts. */
  readonly question?: string
  readonly onSelect: () => void
}

const GAP = 4

/** A button that opens a list of actions. Escape and a click outside close it; arrow keys move in it. */
export function Menu({
  label,
  children,
  items,
  class: classes = 'icon-button small',
}: {
  readonly label: string
  readonly children: ComponentChildren
  readonly items: readonly MenuItem[]
  readonly class?: string
}) {
  const id = useId()
  const list = useRef<HTMLDivElement>(null)
  const button = useRef<HTMLButtonElement>(null)
  const [asked, setAsked] = useState<MenuItem['label'] | null>(null)
  const select = ({ label: text, question, onSelect }: MenuItem): void => {
    if (question !== undefined && asked !== text) return setAsked(text)
    list.current?.hidePopover()
    onSelect()
  }
  const place = (): void => {
    const [menu, anchor] = [list.current, button.current?.getBoundingClientRect()]
    if (menu === null || anchor === undefined) return
    menu.style.left = `${Math.max(GAP, Math.min(anchor.left, innerWidth - menu.offsetWidth - GAP))}px`
    const below = anchor.bottom + GAP
    menu.style.top = `${below + menu.offsetHeight > innerHeight ? Math.max(GAP, anchor.top - menu.offsetHeight - GAP) : below}px`
    menu.querySelector('button')?.focus()
  }
  return (
    <>
      <button ref={button} type="button" class={classes} popovertarget={id} aria-haspopup="menu" title={label}>
        {children}
        <span class="hidden">{label}</span>
      </button>
      <div
        ref={list}
        id={id}
        popover="auto"
        role="menu"
        aria-label={label}
        class="menu"
        onToggle={(event) => (event.newState === 'open' ? place() : setAsked(null))}
        onKeyDown={moveFocus}
      >
        {items.map((item) => (
          <button
            key={item.label}
            type="button"
            role="menuitem"
            class={item.isDanger === true || asked === item.label ? 'danger' : ''}
            onClick={() => select(item)}
          >
            {item.icon !== undefined && <Icon name={item.icon} />} {asked === item.label ? item.question : item.label}
          </button>
        ))}
      </div>
    </>
  )
}

/** Arrow keys move the focus through the list, around its ends. */
function moveFocus(event: KeyboardEvent & { readonly currentTarget: HTMLElement }): void {
  const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0
  if (step === 0) return
  event.preventDefault()
  const buttons = [...event.currentTarget.querySelectorAll('button')]
  const at = buttons.indexOf(document.activeElement as HTMLButtonElement)
  buttons.at((at + step) % buttons.length)?.focus()
}
