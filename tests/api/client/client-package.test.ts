import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { packPackage, withoutNpm } from '../../support/pack-package.ts'
import { startApi, type TestApi } from '../../support/start-api.ts'

const run = promisify(execFile)
const TYPESCRIPT = join(import.meta.dirname, '../../../node_modules/typescript/bin/tsc')

let api: TestApi
let folder: string
beforeAll(async () => {
  api = await startApi()
  folder = await mkdtemp(join(tmpdir(), 'cellblock-client-package-'))
})
afterAll(() => Promise.all([api.stop(), rm(folder, { recursive: true, force: true })]))

it('works as a package that was packed in the clone and installed into an empty folder', async () => {
  const { archive, paths } = await packPackage('client', folder)
  expect(paths).toEqual(expect.arrayContaining(['README.md', 'package.json', 'dist/index.js', 'dist/index.d.ts', 'dist/api.d.ts']))
  expect(paths.filter((path) => !/^(?:README\.md|package\.json|dist\/index\.js|dist\/[\w-]+\.d\.ts)$/.test(path))).toEqual([])
  await writeFile(join(folder, 'package.json'), '{"private":true,"type":"module"}')
  await run('npm', ['install', '--offline', '--no-audit', '--no-fund', archive], { cwd: folder, env: withoutNpm() })

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

it.each(['bundler', 'nodenext'])(
  'has types with which ordinary programs compile in strict mode, resolved as %s',
  async (resolution) => {
    const uses = await readFile(join(import.meta.dirname, 'ordinary-uses.ts'), 'utf8')
    await writeFile(join(folder, 'uses.ts'), uses.replace('../../../packages/client/src/index.ts', '@cellblock/client'))
    const config = {
      compilerOptions: {
        strict: true,
        exactOptionalPropertyTypes: true,
        noUncheckedIndexedAccess: true,
        noEmit: true,
        target: 'es2023',
        lib: ['es2023', 'dom', 'dom.iterable'],
        types: [],
        module: resolution === 'nodenext' ? 'nodenext' : 'esnext',
        moduleResolution: resolution,
      },
      files: ['uses.ts'],
    }
    await writeFile(join(folder, 'tsconfig.json'), JSON.stringify(config))
    const compiled = await run(process.execPath, [TYPESCRIPT, '--project', folder], { cwd: folder }).catch((error: unknown) => error)
    expect(compiled).toMatchObject({ stdout: '' })
  },
  120_000,
)
