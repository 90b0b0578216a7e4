/** A prerequisite of a command. */
export type Requirement =
  | 'dependencies'
  | 'engine'
  | 'image'
  | 'client-compat'
  | 'client-generator'
  | 'doc-snippets'
  | 'schemathesis'
  | 'cfn-lint'
  | 'emulator'
  | 'playground'
  | 'chromium'

export interface Command {
  readonly needs: readonly Requirement[]
  /** The file to run, and arguments that precede the user's. */
  readonly entry: readonly [file: string, ...args: string[]]
  /** Additions to the environment. */
  readonly env?: Readonly<Record<string, string>>
  /** Options of node itself, by the environment. */
  readonly nodeFlags?: (env: NodeJS.ProcessEnv) => readonly string[]
  /** Prints every step, also those with nothing to do. */
  readonly isVerbose?: boolean
  /** Needs neither engine nor image if the settings in cdk.json let CodeBuild build the images. */
  readonly mayBuildRemotely?: boolean
  /** Its arguments may name tests: it needs only what these need. */
  readonly testsAreNamed?: boolean
  /** Serves every image that exists, by default `standard`. */
  readonly hasImages?: boolean
  /** Serves the documentation and builds it beside the work if it is missing. */
  readonly servesGuide?: boolean
}

/**
 * The server shares the machine's memory with its sandboxes. Objects of a request are short-lived, so a small young generation is nearly as fast as a
 * large one, and a scavenge copies so little that one thread finishes it before helper threads, which compete with sandboxes for CPU, have started.
 * 29 MB live in the old generation. By default a fast server collects it at 49 MB and a slow one at 37 MB; a fixed growth is the same for both. Bytes of
 * transferred files do not count towards that, but towards a limit for both together: otherwise every 8 MB of them would collect the heap (ADR 0096).
 */
const SMALL_HEAP = ['--max-semi-space-size=1', '--heap-growing-percent=30', '--external-memory-accounted-in-global-limit']

/**
 * With its rows in AWS a request waits for some ten calls. Its objects outlive a small young generation meanwhile and fill the old one, and a small heap is then
 * collected for a quarter of the time under load (ADR 0095).
 */
const HEAP_FOR_CALLS = ['--max-semi-space-size=16', '--heap-growing-percent=100']

/**
 * The jobs of Maglev, the compiler between baseline code and TurboFan, leave memory that the process does not return. Without it V8 calls a function 3,000
 * times before it optimizes it, and a request calls most functions once. With 100 calls, 20 of them since the function last met a new type, the first
 * thousand executions take 10 % less time, and the optimized code takes 5 MB. One compiler thread is enough: several compete with the sandboxes, which
 * showed in the slowest executions, and take 4 MB more. TurboFan may inline less than by default, because a compilation of 20 to 50 ms occupies a processor, and
 * with the precedence of the server: there are two fifths as many above 10 ms, and the compiler uses a quarter less time for the first thousand executions.
 */
const COMPILERS = [
  '--no-maglev',
  '--invocation-count-for-turbofan=100',
  '--minimum-invocations-after-ic-update=20',
  '--concurrent-turbofan-max-threads=1',
  '--max-inlined-bytecode-size-cumulative=200',
]

/** The options of node for the server with this environment. */
export const serverNodeFlags = ({ CELLBLOCK_STORAGE }: NodeJS.ProcessEnv): readonly string[] => [
  ...(CELLBLOCK_STORAGE === 'aws' ? HEAP_FOR_CALLS : SMALL_HEAP),
  '--no-parallel-scavenge',
  ...COMPILERS,
]

/**
 * Settings of glibc's allocator (mallopt(3)). The compilers and the garbage collector of V8 allocate on several threads and free nearly all of it. By
 * default glibc keeps that memory, in one heap for each thread: 25 MB after 1,000 executions. With one heap the end of it can be returned. Blocks of
 * less than 4 MiB stay in the heap, because a mapping for each piece of a transferred file would cost more than copying it.
 */
export const SERVER_ENVIRONMENT: Readonly<Record<string, string>> = {
  MALLOC_ARENA_MAX: '1',
  MALLOC_TRIM_THRESHOLD_: '131072',
  MALLOC_MMAP_THRESHOLD_: '4194304',
}

export const SANDBOX: readonly Requirement[] = ['dependencies', 'engine', 'image']

/** One entry per npm script; `scripts/run.ts` prepares its prerequisites and then executes it. */
export const COMMANDS = {
  start: {
    needs: [...SANDBOX, 'playground'],
    entry: ['services/entries/local/main.ts'],
    nodeFlags: serverNodeFlags,
    env: SERVER_ENVIRONMENT,
    isVerbose: true,
    hasImages: true,
    servesGuide: true,
  },
  test: {
    needs: [...SANDBOX, 'client-compat', 'client-generator', 'cfn-lint', 'emulator', 'chromium'],
    entry: ['scripts/test.ts'],
    isVerbose: true,
    testsAreNamed: true,
  },
  'test:unit': { needs: ['dependencies'], entry: ['scripts/test.ts', '--project', 'unit'] },
  'test:clients': { needs: [...SANDBOX, 'client-compat', 'doc-snippets'], entry: ['tests/client-compat/run.ts'], isVerbose: true },
  'test:browser': {
    needs: [...SANDBOX, 'chromium'],
    entry: ['scripts/test.ts', '--project', 'browser'],
    env: { CELLBLOCK_XSS_CORPUS: 'whole' },
    isVerbose: true,
  },
  'test:gvisor': { needs: SANDBOX, entry: ['scripts/test.ts', '--project', 'gvisor'], isVerbose: true },
  'test:security': { needs: [...SANDBOX, 'client-compat'], entry: ['tests/security/main.ts'] },
  'test:programs': { needs: SANDBOX, entry: ['tests/programs/main.ts'] },
  'test:fuzz': { needs: ['dependencies', 'schemathesis'], entry: ['tests/fuzz/main.ts'], isVerbose: true },
  'test:chaos': { needs: SANDBOX, entry: ['tests/chaos/main.ts'] },
  'test:soak': { needs: SANDBOX, entry: ['tests/chaos/soak/main.ts'] },
  'test:noise': { needs: SANDBOX, entry: ['tests/load/noise/main.ts'] },
  'test:load': { needs: SANDBOX, entry: ['tests/load/main.ts'] },
  bench: { needs: SANDBOX, entry: ['tests/bench/main.ts'] },
  'generate:client': { needs: ['dependencies', 'client-generator'], entry: ['scripts/generate-client/main.ts'] },
  'build:package': { needs: ['dependencies'], entry: ['scripts/build-package.ts'] },
  'lock:python': { needs: [], entry: ['scripts/lock-python.ts'] },
  'lock:npm': { needs: [], entry: ['scripts/lock-npm.ts'] },
  image: { needs: SANDBOX, entry: ['scripts/print-image.ts'] },
  check: { needs: ['dependencies'], entry: ['scripts/check.ts'] },
  'lint:prose': { needs: ['dependencies'], entry: ['scripts/prose/main.ts'] },
  'docs:build': { needs: ['dependencies'], entry: ['scripts/docs/build.ts'] },
  fmt: { needs: ['dependencies'], entry: ['node_modules/oxfmt/bin/oxfmt'] },
  cli: { needs: ['dependencies'], entry: ['scripts/cli/main.ts'] },
  // No prerequisites: it reports what is missing.
  doctor: { needs: [], entry: ['scripts/doctor/main.ts'] },
  cost: { needs: ['dependencies'], entry: ['scripts/operate/cost.ts'] },
  'pool-size': { needs: ['dependencies'], entry: ['scripts/operate/pool-size.ts'] },
  simulate: { needs: ['dependencies'], entry: ['scripts/operate/simulate.ts'] },
  deploy: { needs: SANDBOX, entry: ['scripts/deploy.ts'], isVerbose: true, mayBuildRemotely: true },
  destroy: { needs: ['dependencies'], entry: ['scripts/destroy.ts'], isVerbose: true },
  restore: { needs: ['dependencies'], entry: ['scripts/restore.ts'], isVerbose: true },
  'test:aws': { needs: [...SANDBOX, 'emulator'], entry: ['scripts/test.ts', '--project', 'aws'], isVerbose: true },
  synth: { needs: ['dependencies'], entry: ['node_modules/aws-cdk/bin/cdk', 'synth', '--quiet'] },
  example: { needs: ['dependencies'], entry: ['scripts/example.ts'] },
  'example:quickstart': { needs: ['dependencies'], entry: ['examples/quickstart/main.ts'] },
} as const satisfies Record<string, Command>

export type CommandName = keyof typeof COMMANDS

export const isCommandName = (name: string | undefined): name is CommandName => name !== undefined && Object.hasOwn(COMMANDS, name)
