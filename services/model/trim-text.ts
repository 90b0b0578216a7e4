/** Cuts a text that is longer than `max` characters to head and tail, and states how many characters are omitted. */
export function trimText(text: string, max: number, headShare = 0.6): string {
  if (text.length <= max) return text
  const head = Math.floor(max * headShare)
  const tail = max - head
  const missing = text.length - max
  return `${wellFormed(text.slice(0, head))}\n… ${missing} characters left out …\n${wellFormed(text.slice(text.length - tail))}`
}

/** Removes half of a surrogate pair at a cut. */
const wellFormed = (text: string): string => text.replace(/^[\udc00-\udfff]|[\ud800-\udbff]$/g, '')

// oxlint-disable-next-line no-control-regex
const ANSI = /\u001b\[[0-9;?]*[ -/]*[@-~]/g

/** Removes the colours of IPython's tracebacks, which are of no use to models and logs. */
export const withoutColours = (text: string): string => text.replace(ANSI, '')
