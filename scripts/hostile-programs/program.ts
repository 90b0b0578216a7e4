/** What an escaped program would touch. A program that names tripwires must touch them once the protections are disabled. */
export const TRIPWIRES = [
  'tcp',
  'udp',
  'dns',
  'metadata',
  'credentials',
  'resolver',
  'sibling',
  'engine',
  'host-file',
  'host-secret',
  // The program's output or status differs from the expected one.
  'outcome',
] as const
export type Tripwire = (typeof TRIPWIRES)[number]

/** How an execution must end: its status, reason and allowed output. */
export interface Expected {
  readonly status: 'succeeded' | 'failed' | 'timed_out'
  readonly reason?: 'error' | 'oom' | 'kernel_died' | 'disk_full' | 'deadline' | 'output_limit'
  /** The whole of stdout, or a pattern for it. */
  readonly stdout?: string | RegExp
  /** `Name: value` of the exception. */
  readonly error?: RegExp
  /** Paths of the files that the result names, sorted. */
  readonly files?: readonly string[]
}

export interface Program {
  /** `family/what-it-does`, unique. */
  readonly id: string
  /** The system call, API or protocol, without its arguments. At most three programs per mechanism are counted. */
  readonly mechanism: string
  readonly code: string
  /** Runs afterwards in the same container, and must print `stdout` if the program had no effect. */
  readonly after?: { readonly code: string; readonly stdout: string }
  readonly expects: Expected
  readonly aims?: readonly Tripwire[]
  readonly timeoutSeconds?: number
  /** The container hibernates between the program and `after`. */
  readonly hibernates?: boolean
  /** Part of the subset that `npm test` runs. */
  readonly isQuick?: boolean
}

export interface Family {
  readonly name: string
  readonly programs: readonly Program[]
}

interface More {
  readonly after?: NonNullable<Program['after']>
  readonly aims?: readonly Tripwire[]
  readonly timeoutSeconds?: number
  readonly hibernates?: boolean
  /** Puts a program into the subset. */
  readonly isQuick?: true
}
type Entry = readonly [name: string, mechanism: string, code: string, expects: string | RegExp | Expected, more?: More]

/** A text or pattern as `expects` is the stdout of a program that succeeds. Every twelfth program is part of the subset. */
export function family(name: string, entries: readonly Entry[]): Family {
  const programs = entries.map(([what, mechanism, code, expects, more = {}], index): Program => {
    const expected: Expected =
      typeof expects === 'string'
        ? { status: 'succeeded', stdout: `${expects}\n` }
        : expects instanceof RegExp
          ? { status: 'succeeded', stdout: expects }
          : expects
    const isQuick = index % 12 === 0 && more.timeoutSeconds === undefined && more.hibernates !== true
    return { id: `${name}/${what.replaceAll(/[^\w.]+/g, '-')}`, mechanism, code, expects: expected, isQuick, ...more }
  })
  return { name, programs }
}

export const RAISES = (error: RegExp): Expected => ({ status: 'failed', reason: 'error', error })
export const DIES: Expected = { status: 'failed', reason: 'kernel_died' }
export const TIMES_OUT: Expected = { status: 'timed_out' }
export const OUT_OF_MEMORY: Expected = { status: 'failed', reason: 'oom' }
