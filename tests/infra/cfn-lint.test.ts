import { App } from 'aws-cdk-lib'
import { execFile } from 'node:child_process'
import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { sourceAssets } from '../../infra/bundle/source-assets.ts'
import { Cellblock } from '../../infra/cellblock.ts'
import { ensureCfnLint } from '../../scripts/setup/cfn-lint.ts'
import { readSetupConfig } from '../../scripts/setup/config.ts'
import { buildApp, context, PRIVATE_INGRESS } from './synthesise.ts'

const ROOT = join(import.meta.dirname, '../..')
const folder = mkdtempSync(join(tmpdir(), 'cellblock-cfn-lint-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

interface Match {
  readonly Filename: string
  readonly Message: string
  readonly Rule: { readonly Id: string }
  readonly Location: { readonly Path: readonly (string | number)[] | null }
}

/** The app whose images CodeBuild builds. */
function codeBuild(outdir: string): App {
  const app = new App({ outdir, context: { ...context, 'aws:cdk:bundling-stacks': [], 'aws:cdk:disable-stack-trace': true } })
  const settings = { ...(context['cellblock'] as object), deployment: { imageBuilder: 'codebuild' } }
  const source = join(folder, 'context')
  mkdirSync(source, { recursive: true })
  writeFileSync(join(source, 'Dockerfile'), 'FROM scratch\n')
  const { stacks } = new Cellblock(app, 'Cellblock', {
    settings,
    assets: sourceAssets({ images: { kind: 'built', folder: source }, siteFolder: null }),
  })
  expect(stacks.image?.builds).not.toBeNull()
  return app
}

const { sandboxes } = context['cellblock'] as { readonly sandboxes: object }
const customDomain = { name: 'code.example.com', certificateArn: 'arn:aws:acm:us-east-1:123456789012:certificate/one' }

/** Every configuration that docs/deploy.md describes. */
const CONFIGURATIONS: Readonly<Record<string, (outdir: string) => App>> = {
  default: (outdir) => buildApp({ api: {} }, outdir).app,
  'upload-service': (outdir) => buildApp({ api: { uploadService: true } }, outdir).app,
  'network-gateway': (outdir) => buildApp({ network: { gateway: true } }, outdir).app,
  'private-ingress': (outdir) => buildApp({ api: { privateIngress: PRIVATE_INGRESS } }, outdir).app,
  'rate-limit-custom-domain': (outdir) => buildApp({ api: { customDomain, rateLimit: 1_000 } }, outdir).app,
  'arm-spot': (outdir) => buildApp({ sandboxes: { ...sandboxes, architecture: 'ARM64', spotPercent: 80 } }, outdir).app,
  codebuild: codeBuild,
}

/** Synthesises a configuration and returns the paths of its templates, each named after the configuration. */
function templatesOf(name: string, build: (outdir: string) => App): string[] {
  const outdir = mkdtempSync(join(folder, `${name}-`))
  build(outdir).synth()
  return readdirSync(outdir)
    .filter((file) => file.endsWith('.template.json'))
    .map((file) => {
      const path = join(folder, `${name}.${file}`)
      copyFileSync(join(outdir, file), path)
      return path
    })
}

/** One template of each content: most stacks are the same in several configurations. */
const distinct = (paths: readonly string[]): string[] => [
  ...new Map(paths.map((path) => [readFileSync(path, 'utf8'), path] as const)).values(),
]

async function lint(paths: readonly string[]): Promise<string[]> {
  const program = await ensureCfnLint(ROOT, { config: readSetupConfig(), mayInstall: false }, () => undefined)
  const args = ['--config-file', join(import.meta.dirname, 'cfn-lint/cfnlintrc.yaml'), '--format', 'json', '--template', ...paths]
  const output = await new Promise<string>((resolve, reject) => {
    execFile(program, args, { cwd: folder, maxBuffer: 2 ** 26 }, (error, stdout, stderr) => {
      // It exits with a bit for each kind of finding; without a report it has failed.
      if (stdout.trim() === '' && error !== null) reject(new Error(stderr, { cause: error }))
      else resolve(stdout)
    })
  })
  return (JSON.parse(output) as Match[]).map(
    ({ Filename, Message, Rule, Location }) =>
      `${Filename.slice(folder.length + 1)} ${Rule.Id} ${(Location.Path ?? []).join('.')}: ${Message}`,
  )
}

/** Half a minute on two idle cores; other suites run beside it. */
const TIMEOUT_MS = 600_000

it('cfn-lint finds nothing in the templates of any documented configuration', { timeout: TIMEOUT_MS }, async () => {
  const templates = Object.entries(CONFIGURATIONS).flatMap(([name, build]) => templatesOf(name, build))
  expect(templates.length).toBeGreaterThan(7 * 5)
  expect(await lint(distinct(templates))).toEqual([])
})
