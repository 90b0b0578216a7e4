/** What one look found. `warn`: it works, and the reader should know; `fail`: something will not work until it is repaired. */
export interface Finding {
  readonly what: string
  readonly outcome: 'ok' | 'warn' | 'fail'
  /** What is there, and what to do about it, in plain words. */
  readonly says: string
}

export const ok = (what: string, says: string): Finding => ({ what, outcome: 'ok', says })
export const warn = (what: string, says: string): Finding => ({ what, outcome: 'warn', says })
export const fail = (what: string, says: string): Finding => ({ what, outcome: 'fail', says })

const MARKS: Record<Finding['outcome'], string> = { ok: '✓', warn: '!', fail: '✗' }

/** Names of checks are padded to one width, so that lines that come one by one stand below each other. */
const WIDTH = 20
export const findingLine = ({ what, outcome, says }: Finding): string => `${MARKS[outcome]} ${what.padEnd(WIDTH)}${says}\n`

/** The last words: how many failed. */
export function findingsText(findings: readonly Finding[]): string {
  const failed = findings.filter(({ outcome }) => outcome === 'fail').length
  return `\n${failed === 0 ? 'Everything that is needed is there.' : `${failed} of ${findings.length} checks failed.`}\n`
}
