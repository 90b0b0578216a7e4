import { defineConfig } from 'vitest/config'
import LongestFirst from './tests/setup/longest-first.ts'

/** Suites that start sandboxes: few at a time, because each costs a core while it starts. */
const WITH_SANDBOXES = ['contract', 'integration', 'e2e', 'security', 'chaos', 'browser', 'aws', 'gvisor'] as const
/** Tests that also run with CELLBLOCK_STORAGE=aws, on emulators: end-to-end ones have theirs in a separate process. */
const ON_AWS_STORAGE = [
  'e2e/hibernate',
  'e2e/quickstart',
  'e2e/restart',
  'integration/*/crash',
  'api/links/*',
  'api/usage/*',
  'contract/turn-in-share',
]
/** Suites that need no Docker engine. */
const WITHOUT_SANDBOXES = ['unit', 'infra', 'api'] as const

/** A shared build machine may stall for longer than a time-out here: one retry there, named in the report; none on a developer machine. */
const RETRIES = process.env['CI'] === 'true' ? 1 : 0

/**
 * A sandbox's processes share the host's processors with everything else that runs there, so a cell of a second may take a minute on a busy
 * machine. The time-out only has to end a test that hangs.
 */
const SANDBOX_TIMEOUT_MS = 240_000
const SANDBOX_SETTINGS = {
  globalSetup: ['tests/setup/temporary-folder.ts', 'tests/setup/sandbox-image.ts'],
  testTimeout: SANDBOX_TIMEOUT_MS,
  hookTimeout: SANDBOX_TIMEOUT_MS,
  expect: { poll: { timeout: 60_000 } },
  retry: RETRIES,
}

const suite = (name: string, order: number) => ({
  extends: true as const,
  test: {
    name,
    include: [`tests/${name}/**/*.test.ts`],
    sequence: { groupOrder: order },
    globalSetup: ['tests/setup/temporary-folder.ts'],
  },
})

export default defineConfig({
  test: {
    testTimeout: 60_000,
    sequence: { sequencer: LongestFirst },
    hookTimeout: 120_000,
    maxWorkers: 4,
    // A third of the time went into loading the same modules for each file. No module of ours keeps what a test could find.
    isolate: false,
    // Projects transform the same modules; with the cache on disk each is transformed once.
    fsModuleCache: true,
    // What is waited for comes when the machine has time for it.
    expect: { poll: { timeout: 30_000 } },
    projects: [
      ...WITHOUT_SANDBOXES.map((name) => suite(name, 0)),
      ...WITH_SANDBOXES.map((name) => {
        const { extends: base, test } = suite(name, 1)
        return { extends: base, test: { ...test, ...SANDBOX_SETTINGS } }
      }),
      {
        extends: true,
        test: {
          name: 'aws-storage',
          include: ON_AWS_STORAGE.map((name) => `tests/${name}.test.ts`),
          env: { CELLBLOCK_STORAGE: 'aws' },
          sequence: { groupOrder: 1 },
          ...SANDBOX_SETTINGS,
        },
      },
    ],
  },
})
