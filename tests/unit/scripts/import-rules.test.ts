import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { findCycles } from '../../../scripts/import-rules/find-cycles.ts'
import { LAYERS, refuseImport } from '../../../scripts/import-rules/layers.ts'
import { importsOf, readImports } from '../../../scripts/import-rules/read-imports.ts'

const ROOT = join(import.meta.dirname, '..', '..', '..')

/** Why the file may not contain the line; null if it may. */
function refusal(file: string, line: string): string | null {
  const [only] = importsOf(file, line)
  if (only === undefined) throw new Error(`No import in: ${line}`)
  return refuseImport(only.from, only.to, only.isPackage)
}

const from = (specifier: string): string => `export { a } from '${specifier}'`

describe('the imports of every source file and test', async () => {
  const imports = await readImports(ROOT)

  it('are those that their layers allow', () => {
    expect(imports.length).toBeGreaterThan(7_000)
    expect(imports.some((each) => each.from.startsWith('tests/'))).toBe(true)
    expect(imports.flatMap((each) => refuseImport(each.from, each.to, each.isPackage) ?? [])).toEqual([])
  })

  it('form no cycle', () => {
    expect(findCycles(imports)).toEqual([])
  })
})

it.for([
  ['services/core/id.ts', '../storage/a.ts'],
  ['services/core/ports/table.ts', '../../api/a.ts'],
  ['services/core/id.ts', '../../scripts/checks.ts'],
  ['services/core/id.ts', '../../packages/client/src/index.ts'],
  ['services/core/id.ts', 'node:fs/promises'],
  ['services/core/id.ts', 'ws'],
  ['services/core/id.ts', '@aws-sdk/client-s3'],
  ['services/jobs/a.ts', '../orchestrator/a.ts'],
  ['services/api/executions/a.ts', '../../chat/a.ts'],
  ['services/api/executions/a.ts', '../../storage/a.ts'],
  ['services/api/executions/a.ts', '../wires/native/executions/a.ts'],
  ['services/api/executions/a.ts', '../wires/e2b/a.ts'],
  ['services/api/commands/a.ts', '../wires/openai/a.ts'],
  ['services/api/skills/a.ts', '../wires/openai/a.ts'],
  ['services/api/audit/a.ts', '../wires/openai/a.ts'],
  ['services/api/usage/a.ts', '../wires/openai/a.ts'],
  ['services/api/page/a.ts', '../wires/openai/a.ts'],
  ['services/api/executions/a.ts', '../aws-app.ts'],
  ['services/api/executions/a.ts', '../lambda.ts'],
  ['services/api/executions/a.ts', '../app.ts'],
  ['services/api/app.ts', './aws-app.ts'],
  ['services/api/wires/native/links/a.ts', '../../openai/files/a.ts'],
  ['services/api/wires/plugin/a.ts', '../native/executions/a.ts'],
  ['services/api/wires/openai/files/a.ts', '../../../../chat/a.ts'],
  ['services/api/wires/openai/files/a.ts', '../../routes.ts'],
  ['services/chat/a.ts', '../orchestrator/a.ts'],
  ['services/chat/lambda.ts', '../orchestrator/a.ts'],
  ['services/orchestrator/run/a.ts', '../../storage/s3/a.ts'],
  ['services/orchestrator/reconciler/a.ts', '../drivers/fargate/task-event.ts'],
  ['services/orchestrator/run/a.ts', '../drivers/registry.ts'],
  ['services/orchestrator/drivers/docker/a.ts', '../../run/a.ts'],
  ['services/orchestrator/drivers/docker/a.ts', '../../supervisor-client/a.ts'],
  ['services/orchestrator/drivers/docker/a.ts', '../fargate/a.ts'],
  ['services/orchestrator/drivers/docker/a.ts', '../registry.ts'],
  ['services/orchestrator/drivers/driver-profile.ts', './docker/a.ts'],
  ['services/orchestrator/drivers/docker/a.ts', '../../../storage/s3/a.ts'],
  ['services/orchestrator/drivers/docker/a.ts', '../../../jobs/a.ts'],
  ['services/storage/s3/a.ts', '../../orchestrator/a.ts'],
  ['services/storage/s3/a.ts', '../../jobs/a.ts'],
  ['services/storage/s3/a.ts', '../../../packages/client/src/index.ts'],
  ['services/local/main.ts', '../../scripts/run.ts'],
  ['services/local/main.ts', '../cli/main.ts'],
  ['services/playground/a.tsx', '../core/ids.ts'],
  ['packages/cli/src/a.ts', '../../../services/core/ids.ts'],
  ['packages/cli/src/a.ts', '../../client/src/index.ts'],
  ['packages/cdk/build.mjs', '../../scripts/checks.ts'],
  ['infra/stacks/a.ts', '../../scripts/checks.ts'],
  ['infra/stacks/a.ts', '../../tests/infra/property.ts'],
  ['infra/stacks/a.ts', '../../services/local/server.ts'],
  ['infra/stacks/a.ts', '../../services/orchestrator/run/run-step.ts'],
  ['infra/stacks/a.ts', '../../services/api/origin/require-origin.ts'],
] as const)('%s may not import %s', ([file, specifier]) => {
  expect(refusal(file, from(specifier))).toContain(`${file} -> `)
})

it.for([
  ['services/core/ports/table.ts', '../id.ts'],
  ['services/core/id.ts', 'zod'],
  ['services/orchestrator/drivers/docker/a.ts', '../../../core/ports/a.ts'],
  ['services/orchestrator/drivers/docker/a.ts', './b.ts'],
  ['services/orchestrator/drivers/docker/a.ts', '../driver-profile.ts'],
  ['services/orchestrator/drivers/registry.ts', './docker/a.ts'],
  ['services/orchestrator/drivers/docker/a.ts', 'dockerode'],
  ['services/orchestrator/run/lambda.ts', '../../storage/a.ts'],
  ['services/orchestrator/reconciler/lambda.ts', '../drivers/fargate/task-event.ts'],
  ['services/api/lambda.ts', './aws-app.ts'],
  ['services/api/aws-app.ts', '../storage/a.ts'],
  ['services/api/app.ts', './wires/routes.ts'],
  ['services/api/wires/routes.ts', './native/executions/routes.ts'],
  ['services/api/executions/a.ts', '../../jobs/a.ts'],
  ['services/api/wires/native/links/a.ts', '../../../files/presign.ts'],
  ['infra/stacks/a.ts', '../../services/core/limits.ts'],
  ['infra/environments.ts', '../services/api/config.ts'],
  ['packages/cdk/build.mjs', '../../infra/build/image-context.ts'],
  ['services/local/main.ts', '../api/a.ts'],
  ['services/local/workers/a.ts', '../../orchestrator/a.ts'],
  ['services/cli/main.ts', '../../packages/cli/src/io.ts'],
  ['scripts/doctor/main.ts', '../../tests/setup/a.ts'],
] as const)('%s may import %s', ([file, specifier]) => {
  expect(refusal(file, from(specifier))).toBeNull()
})

it('names the two files, the layer and what the layer may import', () => {
  expect(refusal('services/chat/a.ts', from('../storage/b.ts'))).toBe(
    'services/chat/a.ts -> services/storage/b.ts is not allowed: layer chat may import jobs, core',
  )
})

it('requires a layer for every file', () => {
  expect(refusal('services/new/a.ts', from('../core/ids.ts'))).toContain('services/new/a.ts belongs to no layer')
})

it.each([
  ["import { b } from './b.ts'"],
  ["import './b.ts'"],
  ["import type { B } from './b.ts'"],
  ["import { type B } from './b.ts'"],
  ["export * from './b.ts'"],
  ["export type { B } from './b.ts'"],
  ["const { b } = await import('./b.ts')"],
  ['const { b } = await import(`./b.ts`)'],
  ["type B = import('./b.ts').B"],
  ["type B = typeof import('./b.ts')"],
])('finds the import in: %s', (source) => {
  expect(importsOf('services/core/a.ts', source)).toEqual([{ from: 'services/core/a.ts', to: 'services/core/b.ts', isPackage: false }])
})

it('finds no import in texts and comments', () => {
  expect(importsOf('services/core/a.ts', "// import './b.ts'\nexport const text = `\nimport './b.ts'\n`")).toEqual([])
})

it('finds a cycle of types and of loads at run time', () => {
  const imports = [
    ...importsOf('services/core/a.ts', "import type { B } from './b.ts'"),
    ...importsOf('services/core/b.ts', "import './d.ts'\nexport const c = () => import('./c.ts')"),
    ...importsOf('services/core/c.ts', "export type A = import('./a.ts').A"),
    ...importsOf('services/core/d.ts', "import { z } from 'zod'"),
  ]
  expect(findCycles(imports)).toEqual([['services/core/a.ts', 'services/core/b.ts', 'services/core/c.ts', 'services/core/a.ts']])
})

it('has the same table as docs/architecture.md', async () => {
  const section = (await readFile(join(ROOT, 'docs/architecture.md'), 'utf8')).split('| Layer | Files | Contents | May import |')[1] ?? ''
  const rows = [...(section.split('\n\n')[0] ?? '').matchAll(/^\| (?<name>[a-z ]+) \| .* \| (?<allowed>[^|]+) \|$/gm)]
  const documented = rows.map(({ groups }) => [groups?.['name'], groups?.['allowed']])
  const enforced = LAYERS.map(({ name, mayImport }) => [name, typeof mayImport === 'string' ? mayImport : cellOf(mayImport)])
  expect(new Map(documented as [string, string][])).toEqual(new Map(enforced as [string, string][]))
})

const cellOf = (allowed: readonly string[]): string =>
  allowed.length === 0 ? '–' : allowed.map((each) => (each.includes('/') ? `\`${each}\`` : each)).join(', ')
