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

it('lets only config files read the environment', async () => {
  expect(await findings('services/entries/api/app.ts', "export const a = process.env['A']")).toContain('no-process-env')
  await rm(join(folder, 'services'), { recursive: true })
  expect(await findings('services/http/config.ts', "export const a = process.env['A']")).not.toContain('no-process-env')
})

it.each(['services/entries/local', 'packages/cli', 'infra', 'scripts'])('bounds files and functions of %s', async (part) => {
  const lines = (count: number) => Array.from({ length: count }, (_, index) => `  console.assert(${index} >= 0)`).join('\n')
  expect(await findings(`${part}/a.ts`, `export function a() {\n${lines(59)}\n}`)).toContain('max-lines-per-function')
  expect(await findings(`${part}/a.ts`, `export function a() {${'\n'.repeat(60)}}`)).toContain('max-lines-per-function')
  expect(await findings(`${part}/a.ts`, lines(301))).toContain('max-lines')
  expect(await findings(`${part}/a.ts`, `export function a() {\n${lines(58)}\n}`)).not.toContain('max-lines')
})
