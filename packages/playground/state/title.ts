const MAX_TITLE = 60

/** The first line of a message without its code. */
export function titleOf(text: string): string {
  const line = text
    .replaceAll(/```[\s\S]*?(?:```|$)/g, ' ')
    .trim()
    .split('\n')[0]
    ?.trim()
  return shortened(line === undefined || line === '' ? 'Code' : line)
}

/** The first line of code. */
export const codeTitle = (code: string): string => shortened(code.trim().split('\n')[0] || 'Code')

const shortened = (line: string): string => {
  const whole = Array.from(line)
  return whole.length <= MAX_TITLE
    ? line
    : `${whole
        .slice(0, MAX_TITLE - 1)
        .join('')
        .trimEnd()}…`
}
