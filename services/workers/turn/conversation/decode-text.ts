const UTF_8 = 'utf-8'
/** Byte-order marks and the encodings that they name. */
const MARKS: readonly (readonly [encoding: string, mark: readonly number[]])[] = [
  [UTF_8, [0xef, 0xbb, 0xbf]],
  ['utf-16le', [0xff, 0xfe]],
  ['utf-16be', [0xfe, 0xff]],
]
// Control characters other than tab, line feed, form feed and carriage return.
// oxlint-disable-next-line no-control-regex
const CONTROLS = /[\u0000-\u0008\u000b\u000e-\u001f\u007f]/

/**
 * The text of a file for a model. A byte-order mark decides the encoding; other text is UTF-8 if it is valid, and otherwise Windows-1252, which Excel writes.
 * Null for bytes that are no text in any of them, which would be noise.
 */
export function decodeText(bytes: Uint8Array): string | null {
  const marked = MARKS.find(([, mark]) => mark.every((byte, index) => bytes[index] === byte))?.[0]
  const text = marked === undefined ? (strict(bytes, UTF_8) ?? strict(bytes, 'windows-1252')) : strict(bytes, marked)
  return text === null || CONTROLS.test(text) ? null : text
}

function strict(bytes: Uint8Array, encoding: string): string | null {
  try {
    return new TextDecoder(encoding, { fatal: true }).decode(bytes)
  } catch {
    return null
  }
}
