import { App, Validations } from 'aws-cdk-lib'
import { AwsSolutionsChecks } from 'cdk-nag'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { ACCEPTED } from './accepted-findings.ts'
import { sourceAssets } from '../../infra/bundle/source-assets.ts'
import { Cellblock } from '../../infra/cellblock.ts'
import { buildApp, context, PRIVATE_INGRESS } from './synthesise.ts'

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

/** Every finding of the AwsSolutions pack in this app, as `rule` and the place where it was found. */
function findings(build: (outdir: string) => App): { readonly rule: string; readonly where: string }[] {
  const outdir = mkdtempSync(join(folder, 'out-'))
  const app = build(outdir)
  Validations.of(app).addPlugins(new AwsSolutionsChecks(app))
  // Findings end the synthesis with an error that repeats them all; the report is complete then.
  try {
    app.synth()
  } catch {}
  const report = JSON.parse(readFileSync(join(outdir, 'validation-report.json'), 'utf8')) as Report
  return report.pluginReports
    .flatMap(({ violations }) => violations)
    .flatMap(({ ruleName, violatingConstructs }) =>
      violatingConstructs.map(({ constructPath }) => ({ rule: ruleName.replace('AwsSolutions-', ''), where: constructPath })),
    )
}

/** The app whose images CodeBuild builds. */
function remoteBuilds(outdir: string): App {
  const app = new App({ outdir, context: { ...context, 'aws:cdk:bundling-stacks': [], 'aws:cdk:disable-stack-trace': true } })
  const settings = { ...(context['cellblock'] as object), deployment: { imageBuilder: 'codebuild' } }
  const source = join(folder, 'context')
  mkdirSync(source, { recursive: true })
  writeFileSync(join(source, 'Dockerfile'), 'FROM scratch\n')
  const assets = sourceAssets({ images: { kind: 'built', folder: source }, siteFolder: null })
  const { stacks } = new Cellblock(app, 'Cellblock', { settings, assets })
  expect(stacks.image?.builds).not.toBeNull()
  return app
}

it('cdk-nag finds nothing that is not explained, and every explanation is still needed', () => {
  const found = [
    ...findings((outdir) => buildApp({ api: { uploadService: true }, network: { gateway: true } }, outdir).app),
    ...findings((outdir) => buildApp({ api: { privateIngress: PRIVATE_INGRESS } }, outdir).app),
    ...findings(remoteBuilds),
  ]
  const isAccepted = ({ rule, where }: { rule: string; where: string }) =>
    ACCEPTED.some((accepted) => accepted.finding.test(rule) && accepted.where.test(where))
  expect(found.length).toBeGreaterThan(0)
  expect(found.filter((finding) => !isAccepted(finding))).toEqual([])
  expect(
    ACCEPTED.filter((accepted) => !found.some(({ rule, where }) => accepted.finding.test(rule) && accepted.where.test(where))),
  ).toEqual([])
})
