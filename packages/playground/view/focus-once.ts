const focused = new WeakSet<HTMLElement>()

/** As a `ref`: a field gets the focus when it appears; drawing it again does not move the cursor. */
export function focusOnce(element: HTMLInputElement | HTMLTextAreaElement | null): void {
  if (element === null || focused.has(element)) return
  focused.add(element)
  element.focus()
  if (element instanceof HTMLInputElement) element.select()
}
