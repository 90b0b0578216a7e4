import { findingLine, findingsText, type Finding } from './finding.ts'

export interface Examined {
  readonly findings: readonly Finding[]
  /** Seconds after the start at which each finding was there. */
  readonly seconds: readonly number[]
  /** What was examined: names and values, without secrets. */
  readonly environment: Readonly<Record<string, string>>
}

/** Account numbers, keys, signatures and addresses of people do not belong into a bug report. */
const HIDDEN: readonly (readonly [RegExp, string])[] = [
  [/\b\d{12}\b/g, '<account>'],
  [/\bck_[\w-]+/g, '<api key>'],
  [/\b(?:AKIA|ASIA)[A-Z0-9]{12,}/g, '<access key>'],
  [/X-Amz-[\w-]+=[\w%.~-]+/g, '<signature>'],
  [/[\w.+-]+@[\w-]+(?:\.[\w-]+)+/g, '<e-mail>'],
]

/** The findings as text that can be attached to a bug report. */
export function transcriptOf({ findings, seconds, environment }: Examined): string {
  const width = Math.max(...Object.keys(environment).map((name) => name.length))
  const head = Object.entries(environment).map(([name, value]) => `${name.padEnd(width)}  ${value}\n`)
  const lines = findings.map((finding, index) => `${String(Math.round(seconds[index] ?? 0)).padStart(5)} s ${findingLine(finding)}`)
  const text = ['Cellblock doctor\n\n', ...head, '\n', ...lines, findingsText(findings)].join('')
  return HIDDEN.reduce((said, [pattern, mask]) => said.replaceAll(pattern, mask), text)
}
