import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { contentHash, listFiles } from './setup/content-hash.ts'
import { IMAGE_ROOTS } from './setup/image-inputs.ts'

/** Everything that the suite of the emulated account exercises: the service, its templates, its image, the commands, the tests, every version. */
export const ACCOUNT_INPUTS: readonly string[] = [
  'cdk.json',
  'examples/quickstart',
  'infra',
  'package-lock.json',
  'package.json',
  ...IMAGE_ROOTS.map((root) => `runtime-image/${root}`),
  'scripts',
  'services',
  'tests/aws',
  'tests/e2e/executions.ts',
  'tests/security/arena/prelude.ts',
  'tests/security/corpus',
  'tests/setup',
  'tests/support/link-mutations.ts',
  'tests/support/native-client.ts',
  'vitest.config.ts',
]

/** That a suite passed, whole and at the first try. */
export interface Stamp {
  /** ISO 8601, UTC. */
  readonly at: string
  readonly tests: number
  readonly seconds: number
}

export interface Stamps {
  /** Hex; the same for the same input, which is files, the version of Node and the kind of machine. */
  input(): Promise<string>
  /** Null when this very input has not passed here. */
  find(input: string): Promise<Stamp | null>
  write(input: string, stamp: Stamp): Promise<void>
}

/** What has passed, a file for each input in `folder`, which is as disposable as any cache. */
export function createStamps(options: { readonly root: string; readonly inputs: readonly string[]; readonly folder: string }): Stamps {
  const { root, inputs, folder } = options
  const fileOf = (input: string): string => join(folder, `${input}.json`)
  return {
    async input() {
      const files = await contentHash(root, await listFiles(root, inputs))
      return `${files.slice(0, 40)}-node-${process.versions.node}-${process.platform}-${process.arch}`
    },
    async find(input) {
      try {
        const { at, tests, seconds } = JSON.parse(await readFile(fileOf(input), 'utf8')) as Partial<Stamp>
        return typeof at === 'string' && typeof tests === 'number' && typeof seconds === 'number' ? { at, tests, seconds } : null
      } catch {
        return null
      }
    },
    async write(input, stamp) {
      await mkdir(folder, { recursive: true })
      await writeFile(fileOf(input), `${JSON.stringify(stamp)}\n`)
    },
  }
}

interface Counts {
  readonly passed: number
  readonly failed: number
  readonly secondTries: number
}

/** Runs a suite and writes the stamp of the input that it ran on, if that stayed the same and every test passed at the first try. */
export async function runStamped<T extends Counts>(stamps: Stamps, run: () => Promise<T>): Promise<T> {
  const before = await stamps.input()
  const began = performance.now()
  const counts = await run()
  const seconds = Math.round((performance.now() - began) / 1000)
  const isGreen = counts.failed === 0 && counts.passed > 0 && counts.secondTries === 0
  if (isGreen && (await stamps.input()) === before)
    await stamps.write(before, { at: new Date().toISOString(), tests: counts.passed, seconds })
  return counts
}

/** The same, unless this very input has passed: then nothing runs, `say` hears of it, and there is nothing to count. */
export async function runUnlessPassed<T extends Counts>(
  stamps: Stamps,
  run: () => Promise<T>,
  say: (stamp: Stamp) => void,
): Promise<readonly T[]> {
  const stamp = await stamps.find(await stamps.input())
  if (stamp === null) return [await runStamped(stamps, run)]
  say(stamp)
  return []
}
