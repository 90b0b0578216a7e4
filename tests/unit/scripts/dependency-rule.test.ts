import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { runCommand } from '../../../scripts/setup/command.ts'

const OXLINT = join(import.meta.dirname, '../../../node_modules/oxlint/bin/oxlint')

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'cellblock-rule-'))
  await cp(join(import.meta.dirname, '../../../.oxlintrc.json'), join(folder, '.oxlintrc.json'))
})
afterEach(() => rm(folder, { recursive: true, force: true }))

async function findings(path: string, line: string): Promise<string> {
  const file = join(folder, path)
  await mkdir(dirname(file), { recursive: true })
  await writeFile(file, `${line}\n`)
  return (await runCommand(process.execPath, [OXLINT, '--format=unix', '.'], { cwd: folder })).stdout
}

it.for([
  ['services/core/id.ts', "export { a } from '../storage/a.ts'"],
  ['services/core/ports/table.ts', "export { a } from '../../api/a.ts'"],
  ['services/core/id.ts', "export { readFile } from 'node:fs/promises'"],
  ['services/api/executions/a.ts', "export { a } from '../../chat/a.ts'"],
  ['services/chat/a.ts', "export { a } from '../orchestrator/a.ts'"],
  ['services/orchestrator/run/a.ts', "export { a } from '../../storage/s3/a.ts'"],
  ['services/orchestrator/drivers/docker/a.ts', "export { a } from '../../../storage/s3/a.ts'"],
  ['services/storage/s3/a.ts', "export { a } from '../../orchestrator/a.ts'"],
  ['services/storage/s3/a.ts', "export { a } from '../../jobs/a.ts'"],
  ['services/orchestrator/drivers/docker/a.ts', "export { a } from '../../../jobs/a.ts'"],
  ['services/api/wires/native/links/a.ts', "export { a } from '../../openai/files/a.ts'"],
  ['services/api/wires/plugin/a.ts', "export { a } from '../native/executions/a.ts'"],
  ['services/api/wires/openai/files/a.ts', "export { a } from '../../../../chat/a.ts'"],
  ['services/api/executions/a.ts', "export { a } from '../wires/native/executions/a.ts'"],
  ['infra/stacks/a.ts', "export { a } from '../../services/local/server.ts'"],
  ['infra/stacks/a.ts', "export { a } from '../../services/orchestrator/run/run-step.ts'"],
] as const)('%s may not say: %s', async ([path, line]) => {
  expect(await findings(path, line)).toContain('no-restricted-imports')
})

it.for([
  ['services/core/ports/table.ts', "export { a } from '../id.ts'"],
  ['services/orchestrator/drivers/docker/a.ts', "export { a } from '../../../core/ports/a.ts'"],
  ['services/orchestrator/run/lambda.ts', "export { a } from '../../storage/a.ts'"],
  ['services/api/lambda.ts', "export { a } from '../storage/a.ts'"],
  ['services/api/aws-app.ts', "export { a } from '../storage/a.ts'"],
  ['services/api/executions/a.ts', "export { a } from '../../jobs/a.ts'"],
  ['services/api/wires/native/links/a.ts', "export { a } from '../../../files/presign.ts'"],
  ['infra/stacks/a.ts', "export { a } from '../../services/core/limits.ts'"],
  ['infra/environments.ts', "export { a } from '../services/api/config.ts'"],
  ['services/local/main.ts', "export { a } from '../api/a.ts'"],
  ['services/local/workers/a.ts', "export { a } from '../../orchestrator/a.ts'"],
] as const)('%s may say: %s', async ([path, line]) => {
  expect(await findings(path, line)).not.toContain('no-restricted-imports')
})

it('lets only config files read the environment', async () => {
  expect(await findings('services/api/app.ts', "export const a = process.env['A']")).toContain('no-process-env')
  await rm(join(folder, 'services'), { recursive: true })
  expect(await findings('services/api/config.ts', "export const a = process.env['A']")).not.toContain('no-process-env')
})

it('finds cycles of types', async () => {
  await findings('services/core/a.ts', "import type { B } from './b.ts'\nexport type A = { readonly b: B }")
  expect(await findings('services/core/b.ts', "import type { A } from './a.ts'\nexport type B = { readonly a: A }")).toContain('no-cycle')
})

it('bounds files and functions of services', async () => {
  const lines = (count: number) => Array.from({ length: count }, (_, index) => `  console.assert(${index} >= 0)`).join('\n')
  expect(await findings('services/local/a.ts', `export function a() {\n${lines(60)}\n}`)).toContain('max-lines-per-function')
  expect(await findings('services/local/a.ts', lines(301))).toContain('max-lines')
  expect(await findings('services/local/a.ts', `export function a() {\n${lines(50)}\n}`)).not.toContain('max-lines')
})
