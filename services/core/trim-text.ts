/** Keeps the head and the tail of a text that is longer than `max` characters and says how much is missing between. */
export function trimText(text: string, max: number, headShare = 0.6): string {
  if (text.length <= max) return text
  const head = Math.floor(max * headShare)
  const tail = max - head
  const missing = text.length - max
  return `${wellFormed(text.slice(0, head))}\n… ${missing} characters left out …\n${wellFormed(text.slice(text.length - tail))}`
}

/** A cut must not leave half of a surrogate pair. */
const wellFormed = (text: string): string => text.replace(/^[\udc00-\udfff]|[\ud800-\udbff]$/g, '')

// oxlint-disable-next-line no-control-regex
const ANSI = /\u001b\[[0-9;?]*[ -/]*[@-~]/g

/** IPython colours its tracebacks; neither a model nor a log wants that. */
export const withoutColours = (text: string): string => text.replace(ANSI, '')
