const OPENS = /^[ \t]*(`{3,}|~{3,})[ \t]*(?:python|py|python3)[ \t]*$/i
const CLOSES = /^[ \t]*(`{3,}|~{3,})[ \t]*$/

/** The closed, fenced Python blocks of a Markdown text, in order; found in one pass. */
export function fencedPython(text: string): readonly string[] {
  const blocks: string[] = []
  let open: { readonly fence: string; readonly lines: string[] } | null = null
  for (const line of text.split('\n')) {
    const bare = line.endsWith('\r') ? line.slice(0, -1) : line
    if (open === null) {
      const fence = OPENS.exec(bare)?.[1]
      if (fence !== undefined) open = { fence, lines: [] }
    } else if (CLOSES.exec(bare)?.[1] === open.fence) {
      blocks.push(open.lines.map((one) => `${one}\n`).join(''))
      open = null
    } else open.lines.push(line)
  }
  return blocks
}
