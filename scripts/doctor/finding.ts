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

/** One line a finding, and one at the end that counts. */
export function findingsText(findings: readonly Finding[]): string {
  const width = Math.max(...findings.map(({ what }) => what.length))
  const failed = findings.filter(({ outcome }) => outcome === 'fail').length
  const end = failed === 0 ? 'Everything that is needed is there.' : `${failed} of ${findings.length} checks failed.`
  return `${[...findings.map(({ what, outcome, says }) => `${MARKS[outcome]} ${what.padEnd(width)}  ${says}`), '', end].join('\n')}\n`
}
