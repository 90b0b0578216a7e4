import { Validations } from 'aws-cdk-lib'
import { AwsSolutionsChecks } from 'cdk-nag'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { ACCEPTED } from './accepted-findings.ts'
import { buildApp } from './synthesise.ts'

interface Report {
  readonly pluginReports: readonly {
    readonly violations: readonly {
      readonly ruleName: string
      readonly violatingConstructs: readonly { readonly constructPath: string }[]
    }[]
  }[]
}
const folder = mkdtempSync(join(tmpdir(), 'cellblock-nag-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** Every finding of the AwsSolutions pack, as `rule` and the place where it was found. */
function findings(): { readonly rule: string; readonly where: string }[] {
  const { app } = buildApp({}, folder)
  Validations.of(app).addPlugins(new AwsSolutionsChecks(app))
  // Findings end the synthesis with an error that repeats them all; the report is complete then.
  try {
    app.synth()
  } catch {}
  const report = JSON.parse(readFileSync(join(folder, 'validation-report.json'), 'utf8')) as Report
  return report.pluginReports
    .flatMap(({ violations }) => violations)
    .flatMap(({ ruleName, violatingConstructs }) =>
      violatingConstructs.map(({ constructPath }) => ({ rule: ruleName.replace('AwsSolutions-', ''), where: constructPath })),
    )
}

it('cdk-nag finds nothing that is not explained, and every explanation is still needed', () => {
  const found = findings()
  const isAccepted = ({ rule, where }: { rule: string; where: string }) =>
    ACCEPTED.some((accepted) => accepted.finding.test(rule) && accepted.where.test(where))
  expect(found.length).toBeGreaterThan(0)
  expect(found.filter((finding) => !isAccepted(finding))).toEqual([])
  expect(
    ACCEPTED.filter((accepted) => !found.some(({ rule, where }) => accepted.finding.test(rule) && accepted.where.test(where))),
  ).toEqual([])
})
