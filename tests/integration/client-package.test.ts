import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { startApi, type TestApi } from '../support/start-api.ts'

const run = promisify(execFile)
const PACKAGE = join(import.meta.dirname, '../../packages/client')

let api: TestApi
let folder: string
beforeAll(async () => {
  api = await startApi()
  folder = await mkdtemp(join(tmpdir(), 'cellblock-client-package-'))
})
afterAll(() => Promise.all([api.stop(), rm(folder, { recursive: true, force: true })]))

it('works as an installed package that contains its types and no other files', async () => {
  // The project's own setting, which `npm test` passes on, would skip the build.
  const { stdout } = await run('npm', ['pack', '--ignore-scripts=false', '--json', '--pack-destination', folder], { cwd: PACKAGE })
  const [packed] = JSON.parse(stdout.slice(stdout.indexOf('['))) as [{ filename: string; files: { path: string }[] }]
  const paths = packed.files.map(({ path }) => path)
  expect(paths).toEqual(expect.arrayContaining(['README.md', 'package.json', 'dist/index.js', 'dist/index.d.ts', 'dist/api.d.ts']))
  expect(paths.filter((path) => !/^(?:README\.md|package\.json|dist\/[\w-]+\.(?:js|d\.ts))$/.test(path))).toEqual([])

  await writeFile(join(folder, 'package.json'), '{"private":true,"type":"module"}')
  await run('npm', ['install', '--offline', '--no-audit', '--no-fund', join(folder, packed.filename)], { cwd: folder })
  const program = `
    import { Cellblock, CellblockError } from '@cellblock/client'
    const client = new Cellblock({ baseUrl: ${JSON.stringify(api.url)}, apiKey: ${JSON.stringify(api.owner.key)} })
    const container = await client.call('POST /v1/containers', { body: { name: 'installed' } })
    const refused = await client.call('GET /v1/models/{model}', { params: { model: 'none' } }).catch((error) => error)
    console.log(JSON.stringify([container.name, refused instanceof CellblockError, refused.code]))
  `
  await writeFile(join(folder, 'main.mjs'), program)
  const answer = await run(process.execPath, ['main.mjs'], { cwd: folder })
  expect(JSON.parse(answer.stdout)).toEqual(['installed', true, 'model_not_found'])
}, 120_000)
