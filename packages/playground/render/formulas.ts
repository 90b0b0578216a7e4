/** A formula of a text, and the mark that stands for it. */
export interface Formula {
  readonly mark: string
  readonly text: string
  readonly isDisplay: boolean
}

/** Code first, because a dollar sign in it is none of a formula. A price such as "$5 and $6" is none either. */
const PATTERN =
  /(`+)[\s\S]*?\1|\$\$([\s\S]+?)\$\$|\\\[([\s\S]+?)\\\]|\\\(([\s\S]+?)\\\)|(?<![\\$\w])\$(?![\s$])([^$\n]*?[^\s\\$])\$(?![\w$])/g
/** More formulas of one text stay as they were written. */
const MAX_FORMULAS = 300

/** Takes the formulas out of Markdown, which would eat their backslashes. Each leaves a mark as code. */
export function withoutFormulas(text: string): { readonly text: string; readonly formulas: readonly Formula[] } {
  const formulas: Formula[] = []
  const rest = text.replaceAll(PATTERN, (whole: string, code?: string, ...found: readonly (string | undefined)[]) => {
    const formula = found.slice(0, 4).find((part) => part !== undefined)
    if (code !== undefined || formula === undefined || formulas.length === MAX_FORMULAS) return whole
    const mark = `formula ${formulas.length}: ${formula.replaceAll(/[`\s]+/g, ' ').trim()}`
    formulas.push({ mark, text: formula, isDisplay: whole.startsWith('$$') || whole.startsWith('\\[') })
    return `\`${mark}\``
  })
  return { text: rest, formulas }
}
