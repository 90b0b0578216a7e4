import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { contentHash, listFiles } from '../infra/build/content-hash.ts'
import { IMAGE_ROOTS } from '../infra/build/image-inputs.ts'

/** Inputs of the suite of the emulated account: service, templates, image, commands, tests and dependency versions. */
export const ACCOUNT_INPUTS: readonly string[] = [
  'cdk.json',
  'examples/quickstart',
  'infra',
  'package-lock.json',
  'package.json',
  'packages',
  ...IMAGE_ROOTS.map((root) => `runtime-image/${root}`),
  'scripts',
  'services',
  'tests/aws',
  'tests/e2e/executions.ts',
  'tests/infra/property.ts',
  'tests/infra/synthesise.ts',
  'tests/security/corpus',
  'tests/setup',
  'tests/support/link-mutations.ts',
  'tests/support/native-client.ts',
  'vitest.config.ts',
]

/** A complete pass of a suite without retries. */
export interface PassRecord {
  /** ISO 8601, UTC. */
  readonly at: string
  readonly tests: number
  readonly seconds: number
}

export interface PassRecords {
  /** Hash of the input: files, Node version, platform. */
  inputHash(): Promise<string>
  /** Null if this input has not passed on this machine. */
  find(input: string): Promise<PassRecord | null>
  write(input: string, record: PassRecord): Promise<void>
}

/** A cache of passes: one file per input in `folder`, which may be deleted at any time. */
export function createPassRecords(options: {
  readonly root: string
  readonly inputs: readonly string[]
  readonly folder: string
}): PassRecords {
  const { root, inputs, folder } = options
  const fileOf = (input: string): string => join(folder, `${input}.json`)
  return {
    async inputHash() {
      const files = await contentHash(root, await listFiles(root, inputs))
      return `${files.slice(0, 40)}-node-${process.versions.node}-${process.platform}-${process.arch}`
    },
    async find(input) {
      try {
        const { at, tests, seconds } = JSON.parse(await readFile(fileOf(input), 'utf8')) as Partial<PassRecord>
        return typeof at === 'string' && typeof tests === 'number' && typeof seconds === 'number' ? { at, tests, seconds } : null
      } catch {
        return null
      }
    },
    async write(input, record) {
      await mkdir(folder, { recursive: true })
      await writeFile(fileOf(input), `${JSON.stringify(record)}\n`)
    },
  }
}

interface Counts {
  readonly passed: number
  readonly failed: number
  readonly retriedPasses: number
}

/** Runs a suite and records the pass, if the input did not change meanwhile and every test passed without a retry. */
export async function runAndRecord<T extends Counts>(records: PassRecords, run: () => Promise<T>): Promise<T> {
  const before = await records.inputHash()
  const began = performance.now()
  const counts = await run()
  const seconds = Math.round((performance.now() - began) / 1000)
  const isGreen = counts.failed === 0 && counts.passed > 0 && counts.retriedPasses === 0
  if (isGreen && (await records.inputHash()) === before)
    await records.write(before, { at: new Date().toISOString(), tests: counts.passed, seconds })
  return counts
}

/** As `runAndRecord`, unless this input has passed: then it runs nothing, calls `onSkip` and returns no counts. */
export async function runUnlessRecorded<T extends Counts>(
  records: PassRecords,
  run: () => Promise<T>,
  onSkip: (record: PassRecord) => void,
): Promise<readonly T[]> {
  const record = await records.find(await records.inputHash())
  if (record === null) return [await runAndRecord(records, run)]
  onSkip(record)
  return []
}
