import type { CheckName } from './check-names.ts'

/** Result of one check. `warn`: it works with a limitation; `fail`: it does not work until the problem is fixed. */
export interface Finding {
  readonly check: CheckName
  readonly outcome: 'ok' | 'warn' | 'fail'
  /** What the check found and what to do. */
  readonly message: string
}

export const ok = (check: CheckName, message: string): Finding => ({ check, outcome: 'ok', message })
export const warn = (check: CheckName, message: string): Finding => ({ check, outcome: 'warn', message })
export const fail = (check: CheckName, message: string): Finding => ({ check, outcome: 'fail', message })

const MARKS: Record<Finding['outcome'], string> = { ok: '✓', warn: '!', fail: '✗' }

/** Width of the check names, because lines are printed one by one. */
const WIDTH = 20
export const findingLine = ({ check, outcome, message }: Finding): string => `${MARKS[outcome]} ${check.padEnd(WIDTH)}${message}\n`

/** The closing line: how many checks failed. */
export function findingsText(findings: readonly Finding[]): string {
  const failed = findings.filter(({ outcome }) => outcome === 'fail').length
  return `\n${failed === 0 ? 'All checks passed.' : `${failed} of ${findings.length} checks failed.`}\n`
}
