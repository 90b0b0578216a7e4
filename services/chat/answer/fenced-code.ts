const FENCE = /^[ \t]*(```+|~~~+)[ \t]*(?:python|py|python3)[ \t]*\r?\n([\s\S]*?)^[ \t]*\1[ \t]*$/gim

/** The fenced Python blocks of a Markdown text, in order. */
export const fencedPython = (text: string): readonly string[] => [...text.matchAll(FENCE)].map((match) => match[2] ?? '')
