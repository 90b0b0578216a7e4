import { build } from 'esbuild'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { listFiles } from '../../../infra/build/content-hash.ts'
import { ACCOUNT_INPUTS, createPassRecords, runAndRecord, runUnlessRecorded, type PassRecords } from '../../../scripts/test-cache.ts'

const ROOT = join(import.meta.dirname, '../../..')
const green = { passed: 3, failed: 0, retriedPasses: 0 }

let root: string
let records: PassRecords
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'cellblock-passes-'))
  await mkdir(join(root, 'services/entries/api'), { recursive: true })
  await writeFile(join(root, 'services/entries/api/app.ts'), 'one')
  await writeFile(join(root, 'package-lock.json'), '{}')
  records = createPassRecords({ root, inputs: ['package-lock.json', 'services'], folder: join(root, '.cellblock/passed') })
})
afterEach(() => rm(root, { recursive: true }))

const found = async () => records.find(await records.inputHash())

describe('a suite that passed', () => {
  it('is recorded under its input with time and counts', async () => {
    expect(await found()).toBeNull()
    expect(await runAndRecord(records, async () => green)).toEqual(green)
    expect(await found()).toEqual({ at: expect.stringMatching(/^\d{4}-.*Z$/), tests: 3, seconds: expect.any(Number) })
  })

  it.each([
    ['a change of a file', 'services/entries/api/app.ts', 'two'],
    ['a new file', 'services/entries/api/new.ts', 'one'],
    ['another lockfile', 'package-lock.json', '{"a":1}'],
  ])('is not found after %s, and found again when that is reverted', async (_, path, content) => {
    await runAndRecord(records, async () => green)
    const before = await records.inputHash()
    await writeFile(join(root, path), content)
    expect(await found()).toBeNull()
    if (path.endsWith('new.ts')) await rm(join(root, path))
    else await writeFile(join(root, path), path.endsWith('.json') ? '{}' : 'one')
    expect(await records.inputHash()).toBe(before)
    expect(await found()).not.toBeNull()
  })

  it('is skipped, not counted, and reported', async () => {
    const reported: number[] = []
    const run = () =>
      runUnlessRecorded(
        records,
        async () => green,
        ({ tests }) => void reported.push(tests),
      )
    expect(await run()).toEqual([green])
    expect(reported).toEqual([])
    expect(await run()).toEqual([])
    expect(reported).toEqual([3])
    await writeFile(join(root, 'services/entries/api/app.ts'), 'two')
    expect(await run()).toEqual([green])
  })

  it('is recorded per Node version', async () => {
    expect(await records.inputHash()).toContain(`node-${process.versions.node}-`)
  })

  it('is forgotten when its stamp is damaged', async () => {
    await runAndRecord(records, async () => green)
    await writeFile(join(root, '.cellblock/passed', `${await records.inputHash()}.json`), '{"at":')
    expect(await found()).toBeNull()
  })
})

describe('no stamp is written', () => {
  it.each([
    ['a failure', { passed: 3, failed: 1, retriedPasses: 0 }],
    ['a pass after a retry', { passed: 3, failed: 0, retriedPasses: 1 }],
    ['a run of nothing', { passed: 0, failed: 0, retriedPasses: 0 }],
  ])('after %s', async (_, counts) => {
    await runAndRecord(records, async () => counts)
    expect(await found()).toBeNull()
  })

  it('after a run during which the input changed', async () => {
    await runAndRecord(records, async () => {
      await writeFile(join(root, 'services/entries/api/app.ts'), 'two')
      return green
    })
    expect(await found()).toBeNull()
    await writeFile(join(root, 'services/entries/api/app.ts'), 'one')
    expect(await found()).toBeNull()
  })
})

it('takes into account every file of ours that the suite loads', async () => {
  const entries = [
    'tests/aws/account.test.ts',
    'tests/aws/support/emulated-app.ts',
    'tests/setup/sandbox-image.ts',
    'scripts/test.ts',
    'scripts/run.ts',
    'infra/bundle/main.ts',
    'examples/quickstart/main.ts',
    'scripts/cli/main.ts',
    ...['api', 'chat', 'run', 'place', 'reconcile'].map((name) => `services/entries/aws/${name}/lambda.ts`),
  ]
  const { metafile } = await build({
    absWorkingDir: ROOT,
    entryPoints: entries,
    bundle: true,
    write: false,
    outdir: 'never',
    metafile: true,
    packages: 'external',
    platform: 'node',
    format: 'esm',
    logLevel: 'silent',
  })
  const counted = new Set(await listFiles(ROOT, ACCOUNT_INPUTS))
  expect(Object.keys(metafile.inputs).length).toBeGreaterThan(100)
  expect(Object.keys(metafile.inputs).filter((path) => !counted.has(path))).toEqual([])
})
