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

/** Sequences for a terminal: colours and movements, titles and links up to their end, other escapes. */
// oxlint-disable-next-line no-control-regex
const SEQUENCES = /\u001b(?:\[[0-9:;<=>?]*[ -/]*[@-~]|[\]PX^_][^\u0007\u001b\n]{0,2048}(?:\u0007|\u001b\\)|[ -/]*[0-~])/g
// oxlint-disable-next-line no-control-regex
const CONTROLS = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]/g

/** Removes what moves a cursor, colours text or rings a bell, which is noise to models and logs. Tabs and line ends stay. */
export const withoutControls = (text: string): string => text.replace(SEQUENCES, '').replace(CONTROLS, '')
