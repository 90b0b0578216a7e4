import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { ISOLATION_CHECKS, refusedCheck } from '../../../services/model/sandboxes/isolation-checks.ts'

const SUPERVISOR = join(import.meta.dirname, '../../../runtime-image/supervisor/cellblock_supervisor')
const source = (file: string): string => readFileSync(join(SUPERVISOR, file), 'utf8')
const names = (text: string, pattern: RegExp): string[] => [...text.matchAll(pattern)].flatMap(([, name]) => name ?? [])

describe('the exit codes of isolation checks', () => {
  it('are those of the supervisor', () => {
    const codes = source('refusal_codes.py')
    expect(names(codes, /^ {4}"(\w+)",$/gm)).toEqual(ISOLATION_CHECKS)
    expect(codes).toContain('_FIRST_CODE = 193')
  })

  it('exist for every check of the self-test', () => {
    const worker = /^CHECKS: [\s\S]*?^\)/m.exec(source('worker/isolation/probe.py'))?.[0] ?? ''
    const checks = [...names(worker, /^ {4}(\w+),$/gm), ...names(source('isolation_checks.py'), /^ {4}(\w+): frozenset/gm)]
    expect(checks.length).toBeGreaterThan(30)
    expect(checks.filter((name) => !ISOLATION_CHECKS.some((known) => known === name))).toEqual([])
  })

  it('fit into an exit status and are no code of a signal', () => {
    expect(193 + ISOLATION_CHECKS.length).toBeLessThanOrEqual(256)
    expect([
      refusedCheck(193),
      refusedCheck(86),
      refusedCheck(0),
      refusedCheck(137),
      refusedCheck(192),
      refusedCheck(255),
      refusedCheck(null),
    ]).toEqual(['unix_socket_opens', 'unknown', null, null, null, null, null])
  })
})
