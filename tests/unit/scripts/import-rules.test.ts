import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { findCycles } from '../../../scripts/import-rules/find-cycles.ts'
import { findFolderCycles } from '../../../scripts/import-rules/find-folder-cycles.ts'
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

  it('form no cycle of files', () => {
    expect(findCycles(imports)).toEqual([])
  })

  it('form no cycle of folders at any depth', () => {
    expect(findFolderCycles(imports)).toEqual([])
  })
})

it.for([
  ['services/model/id.ts', '../adapters/storage/a.ts'],
  ['services/model/id.ts', '../ports/table.ts'],
  ['services/ports/table.ts', '../operations/access.ts'],
  ['services/model/id.ts', '../../scripts/checks.ts'],
  ['services/model/id.ts', '../../packages/client/src/index.ts'],
  ['services/model/id.ts', 'node:fs/promises'],
  ['services/model/id.ts', 'ws'],
  ['services/model/id.ts', '@aws-sdk/client-s3'],
  ['services/jobs/a.ts', '../operations/access.ts'],
  ['services/jobs/a.ts', '../workers/run/a.ts'],
  ['services/operations/executions/a.ts', '../../http/route.ts'],
  ['services/operations/executions/a.ts', '../../wires/native/executions/a.ts'],
  ['services/operations/executions/a.ts', '../../workers/turn/a.ts'],
  ['services/operations/executions/a.ts', '../../adapters/storage/a.ts'],
  ['services/http/a.ts', '../wires/openai/a.ts'],
  ['services/entries/local/a.ts', '../../wires/openai/a.ts'],
  ['services/http/page/a.ts', '../../wires/routes.ts'],
  ['services/http/a.ts', '../entries/api/app.ts'],
  ['services/wires/native/links/a.ts', '../../openai/files/a.ts'],
  ['services/wires/plugin/a.ts', '../native/executions/a.ts'],
  ['services/wires/openai/files/a.ts', '../../../workers/turn/a.ts'],
  ['services/wires/openai/files/a.ts', '../../routes.ts'],
  ['services/workers/turn/a.ts', '../../http/route.ts'],
  ['services/workers/turn/a.ts', '../../adapters/models/a.ts'],
  ['services/workers/run/a.ts', '../../wires/openai/a.ts'],
  ['services/workers/reconcile/a.ts', '../../adapters/drivers/fargate/task-event.ts'],
  ['services/adapters/drivers/docker/a.ts', '../../../workers/run/a.ts'],
  ['services/adapters/drivers/docker/a.ts', '../../supervisor-client/a.ts'],
  ['services/adapters/drivers/docker/a.ts', '../fargate/a.ts'],
  ['services/adapters/drivers/docker/a.ts', '../registry.ts'],
  ['services/adapters/drivers/driver-profile.ts', './docker/a.ts'],
  ['services/adapters/storage/s3/a.ts', '../../models/a.ts'],
  ['services/adapters/storage/s3/a.ts', '../../../operations/access.ts'],
  ['services/adapters/storage/s3/a.ts', '../../../jobs/a.ts'],
  ['services/entries/local/main.ts', '../../../scripts/run.ts'],
  ['services/entries/local/main.ts', '../../../packages/cli/src/io.ts'],
  ['packages/playground/a.tsx', '../../services/model/ids.ts'],
  ['packages/cli/src/a.ts', '../../../services/model/ids.ts'],
  ['packages/cli/src/a.ts', '../../client/src/index.ts'],
  ['packages/cdk/build.mjs', '../../scripts/checks.ts'],
  ['infra/stacks/a.ts', '../../scripts/checks.ts'],
  ['infra/stacks/a.ts', '../../tests/infra/property.ts'],
  ['infra/stacks/a.ts', '../../services/entries/local/server.ts'],
  ['infra/stacks/a.ts', '../../services/workers/run/step/run-step.ts'],
  ['infra/stacks/a.ts', '../../services/http/origin/require-origin.ts'],
] as const)('%s may not import %s', ([file, specifier]) => {
  expect(refusal(file, from(specifier))).toContain(`${file} -> `)
})

it.for([
  ['services/ports/table.ts', '../model/ids.ts'],
  ['services/model/id.ts', 'zod'],
  ['services/jobs/a.ts', '../ports/queue.ts'],
  ['services/operations/executions/a.ts', '../../jobs/a.ts'],
  ['services/wires/native/links/a.ts', '../../../operations/files/presign.ts'],
  ['services/wires/routes.ts', './native/executions/routes.ts'],
  ['services/workers/reconcile/a.ts', '../place/a.ts'],
  ['services/adapters/drivers/docker/a.ts', '../../../ports/a.ts'],
  ['services/adapters/drivers/docker/a.ts', './b.ts'],
  ['services/adapters/drivers/docker/a.ts', '../driver-profile.ts'],
  ['services/adapters/drivers/registry.ts', './docker/a.ts'],
  ['services/adapters/drivers/docker/a.ts', 'dockerode'],
  ['services/entries/aws/run/lambda.ts', '../../../adapters/storage/a.ts'],
  ['services/entries/aws/reconcile/lambda.ts', '../../../adapters/drivers/fargate/task-event.ts'],
  ['services/entries/api/app.ts', '../../wires/routes.ts'],
  ['services/entries/local/workers.ts', '../../workers/run/a.ts'],
  ['infra/stacks/a.ts', '../../services/model/limits.ts'],
  ['infra/environments.ts', '../services/entries/aws/api/config.ts'],
  ['packages/cdk/build.mjs', '../../infra/build/image-context.ts'],
  ['scripts/cli/main.ts', '../../packages/cli/src/io.ts'],
  ['scripts/doctor/main.ts', '../../tests/setup/a.ts'],
] as const)('%s may import %s', ([file, specifier]) => {
  expect(refusal(file, from(specifier))).toBeNull()
})

it('names the two files, the layer and what the layer may import', () => {
  expect(refusal('services/jobs/a.ts', from('../operations/b.ts'))).toBe(
    'services/jobs/a.ts -> services/operations/b.ts is not allowed: layer jobs may import model, ports',
  )
})

it('requires a layer for every file', () => {
  expect(refusal('services/new/a.ts', from('../model/ids.ts'))).toContain('services/new/a.ts belongs to no layer')
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
  expect(importsOf('services/model/a.ts', source)).toEqual([{ from: 'services/model/a.ts', to: 'services/model/b.ts', isPackage: false }])
})

it('finds no import in texts and comments', () => {
  expect(importsOf('services/model/a.ts', "// import './b.ts'\nexport const text = `\nimport './b.ts'\n`")).toEqual([])
})

it('finds a cycle of types and of loads at run time', () => {
  const imports = [
    ...importsOf('services/model/a.ts', "import type { B } from './b.ts'"),
    ...importsOf('services/model/b.ts', "import './d.ts'\nexport const c = () => import('./c.ts')"),
    ...importsOf('services/model/c.ts', "export type A = import('./a.ts').A"),
    ...importsOf('services/model/d.ts', "import * as z from 'zod'"),
  ]
  expect(findCycles(imports)).toEqual([['services/model/a.ts', 'services/model/b.ts', 'services/model/c.ts', 'services/model/a.ts']])
})

it('finds a cycle between two folders whose files form none', () => {
  const imports = [
    ...importsOf('services/model/files/a.ts', "import '../skills/a.ts'"),
    ...importsOf('services/model/skills/b.ts', "import type { C } from '../files/c.ts'"),
  ]
  expect(findCycles(imports)).toEqual([])
  expect(findFolderCycles(imports)).toEqual([
    'services/model/files/a.ts -> services/model/skills/a.ts, services/model/skills/b.ts -> services/model/files/c.ts',
  ])
})

it('finds a cycle between a folder and a file beside it', () => {
  const imports = [
    ...importsOf('services/model/events.ts', "import './executions/a.ts'"),
    ...importsOf('services/model/executions/b.ts', "import '../events.ts'"),
  ]
  expect(findFolderCycles(imports)).toHaveLength(1)
})

it('names every layer in docs/architecture.md, in its order', async () => {
  const text = await readFile(join(ROOT, 'docs/architecture.md'), 'utf8')
  const rows = [...text.matchAll(/^\| `services\/(?<folder>[a-z]+)` \|/gm)].map(({ groups }) => groups?.['folder'])
  const folders = LAYERS.flatMap(({ files }) => /^services\/([a-z]+)\//.exec(files[0] ?? '')?.[1] ?? [])
  expect(rows).toEqual([...new Set(folders)])
})
