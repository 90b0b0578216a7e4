/* oxlint-disable no-control-regex -- control characters are what is removed */
/** Control sequences of terminals: strings (OSC, DCS, APC, PM, SOS), CSI, and single characters, in their 7-bit and 8-bit forms. */
const SEQUENCES =
  /(?:\u001b[\]PX^_]|[\u0090\u0098\u009d-\u009f])[^\u0007\u001b\u009c]*(?:\u0007|\u001b\\|\u009c)?|(?:\u001b\[|\u009b)[0-?]*[ -/]*[@-~]?|\u001b[ -/]*[0-~]?/g
/** Colours and emphasis, which change only the style of the text. */
const COLOUR = /^(?:\u001b\[|\u009b)[0-9;:]*m$/
/** All control characters but tab, line feed and carriage return. */
const CONTROLS = /[\u0000-\u0008\u000b\u000c\u000e-\u001a\u001c-\u001f\u007f-\u009f]/g

/** An incomplete sequence. */
const CUT_SEQUENCE =
  /(?:\u001b[\]PX^_]|[\u0090\u0098\u009d-\u009f])[^\u0007\u001b\u009c]*\u001b?$|(?:\u001b\[|\u009b)[0-?]*[ -/]*$|\u001b[ -/]*$/
/** Maximum length of text that waits for the end of a sequence, characters. */
const MAX_HELD = 64 * 1024

/**
 * Untrusted output for a terminal. Colours stay; sequences that write the clipboard, set the title, create links, move the cursor or make the terminal
 * send input are removed.
 */
export function plainText(text: string): string {
  let plain = ''
  let at = 0
  for (const match of text.matchAll(SEQUENCES)) {
    plain += text.slice(at, match.index).replace(CONTROLS, '')
    if (COLOUR.test(match[0])) plain += match[0].replace('\u009b', '\u001b[')
    at = match.index + match[0].length
  }
  return plain + text.slice(at).replace(CONTROLS, '')
}

/**
 * The same for text in pieces: an incomplete sequence waits for its end, up to `MAX_HELD` characters.
 */
export class PlainTextStream {
  #held = ''

  push(piece: string): string {
    const text = this.#held + piece
    const start = CUT_SEQUENCE.exec(text)?.index
    if (start === undefined || text.length - start > MAX_HELD) {
      this.#held = ''
      return plainText(text)
    }
    this.#held = text.slice(start)
    return plainText(text.slice(0, start))
  }

  end(): string {
    const rest = plainText(this.#held)
    this.#held = ''
    return rest
  }
}
