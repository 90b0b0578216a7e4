import { randomBytes } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { createTenant } from '../../support/create-tenant.ts'
import { startServer, type LocalServerProcess } from '../../support/local-server.ts'
import type { NativeClient, WireExecution } from '../../support/native-client.ts'
import type { Expected, Program, Tripwire } from '../../../scripts/hostile-programs/program.ts'
import { prelude } from '../../../scripts/hostile-programs/prelude.ts'
import { startSibling } from './sibling.ts'
import { newToken, setTripwires, type Hit, type Tripwires } from './tripwires.ts'
import type { Targets } from '../../../scripts/hostile-programs/targets.ts'

interface Outcome {
  readonly status: string
  readonly reason: string | null
  readonly stdout: string
  readonly error: string
  readonly files: readonly string[]
  /** The output of the program's `after`; null if it has none. */
  readonly after: string | null
}

export interface Verdict {
  readonly program: Program
  readonly outcome: Outcome
  /** Canaries found in the output, and the failure of the next call. */
  readonly failures: readonly string[]
  readonly isTyped: boolean
  readonly token: string
}

export interface Harness {
  readonly server: LocalServerProcess
  readonly targets: Targets
  readonly tripwires: Tripwires
  /** The tenant that runs the hostile programs. */
  readonly attacker: NativeClient
  /** Runs one program, then another call that must work. With `skipsNextCall`, the second call is omitted after a success. */
  try(container: string, program: Program, skipsNextCall?: boolean): Promise<Verdict>
  /** Runs code after the prelude. */
  run(container: string, code: string): Promise<WireExecution>
  /** The tripwire hits, by token. Hits without a token count only on tripwires that no other program of the host can touch. */
  hits(): Promise<readonly Hit[]>
  stop(): Promise<void>
}

/** Tripwires that other programs of the host may touch, such as an SDK that searches for credentials. */
const SHARED: readonly Tripwire[] = ['metadata', 'credentials', 'resolver', 'dns']
/** Generous, because other suites may use the machine. */
const TIMEOUT_SECONDS = 90
/** For few programs: without the data stack and without a warm pool, so each sandbox is started once, on demand. */
export const MINIMAL_ENVIRONMENT = { SANDBOX_PRELOAD: 'none', CELLBLOCK_POOL: '0' }
/** Programs of a container follow each other without a pause, so only a container that is left alone hibernates. */
const IDLE_SECONDS = 3
const HIBERNATED_WITHIN_MS = 180_000
const canary = (): string => `CANARY-${randomBytes(12).toString('hex')}`

/**
 * A real server with two tenants, and tripwires: on the host's bridge, on the addresses of cloud metadata services, in a sibling
 * container, in a file and an environment variable of the host, and in a file and the API key of the other tenant.
 */
export async function startHarness(options: {
  readonly image: string
  readonly root?: string
  readonly env?: (tripwires: Tripwires) => Readonly<Record<string, string>>
}): Promise<Harness> {
  await using started = new AsyncDisposableStack()
  const sibling = await startSibling(options.image)
  started.defer(() => sibling.stop())
  const tripwires = await setTripwires(sibling.gateway)
  started.defer(() => tripwires.stop())
  const targets: Targets = { ...tripwires.targets, ...sibling.targets }
  const server = await startServer({
    ...(options.root !== undefined && { root: options.root }),
    env: {
      CELLBLOCK_SANDBOX_IMAGE: options.image,
      CELLBLOCK_POOL: '1',
      CELLBLOCK_LOG: 'events',
      CELLBLOCK_IDLE_SECONDS: String(IDLE_SECONDS),
      SANDBOX_PRELOAD: '',
      CELLBLOCK_CANARY_SECRET: tripwires.canaries.secret,
      ...options.env?.(tripwires),
    },
  })
  started.defer(async () => void (await server.stop()))
  const victimKey = await createTenant(server, 'victim', options.root)
  const victim = server.as(victimKey)
  // With whole outputs, so that a canary is found in all of what a program prints.
  const attacker = server.as(await createTenant(server, 'attacker', options.root), true)
  const victimFile = canary()
  await victim.run(await victim.createContainer(), `open("secret.txt", "w").write("${victimFile}")`)
  const canaries = [...Object.values(tripwires.canaries), victimFile, victimKey]

  const everything = started.move()
  const run: Harness['run'] = (container, code) => attacker.run(container, prelude(targets, newToken()) + code)
  return {
    server,
    targets,
    tripwires,
    attacker,
    run,
    try: async (shared, program, skipsNextCall = false) => {
      const container = program.hibernates === true ? await attacker.createContainer() : shared
      const token = newToken()
      const body = { code: prelude(targets, token) + program.code, timeout_seconds: program.timeoutSeconds ?? TIMEOUT_SECONDS }
      const execution = await attacker.run(container, body)
      const { after } = program
      if (program.hibernates === true) await untilHibernated(container)
      const afterwards = after === undefined ? null : await attacker.run(container, prelude(targets, token) + after.code)
      const output = JSON.stringify([execution, afterwards])
      const next = skipsNextCall && execution.status === 'succeeded' ? null : await attacker.run(container, 'print(6 * 7)')
      const outcome = {
        status: execution.status,
        reason: execution.reason,
        stdout: execution.stdout,
        error: execution.error === null ? '' : `${execution.error.name}: ${execution.error.value}`,
        files: execution.files.map(({ path }) => path).toSorted(),
        after: afterwards === null ? null : afterwards.stdout + (afterwards.error?.name ?? ''),
      }
      const failures = [
        ...canaries.filter((canary) => output.includes(canary)).map((canary) => `printed a canary: ${nameOf(canary)}`),
        ...(next === null || (next.status === 'succeeded' && next.stdout.endsWith('42\n'))
          ? []
          : [`the next call ${next.status}: ${next.reason} ${next.stdout}`]),
      ]
      return { program, outcome, failures, isTyped: matches(program, outcome), token }
    },
    hits: async () =>
      [...tripwires.hits, ...(await sibling.hits())].filter(({ tripwire, token }) => token !== null || !SHARED.includes(tripwire)),
    stop: () => everything.disposeAsync(),
  }

  /** Resolves when the server has logged that it saved the container's variables, or that it could not. */
  async function untilHibernated(container: string): Promise<void> {
    const deadline = Date.now() + HIBERNATED_WITHIN_MS
    const isHibernated = (): boolean =>
      server
        .said()
        .split('\n')
        .some((line) => line.includes('"hibernate"') && line.includes(container) && /"(not_)?saved"/.test(line))
    while (!isHibernated()) {
      if (Date.now() > deadline) throw new Error(`Container ${container} did not hibernate within ${HIBERNATED_WITHIN_MS / 1_000} seconds.`)
      await delay(200)
    }
  }

  function nameOf(text: string): Tripwire | 'other-file' | 'other-key' {
    if (text === tripwires.canaries.file) return 'host-file'
    if (text === tripwires.canaries.secret) return 'host-secret'
    return text === victimFile ? 'other-file' : 'other-key'
  }
}

function matches({ expects, after }: Program, actual: Outcome): boolean {
  const { status, reason, stdout, error, files }: Expected = expects
  return (
    actual.status === status &&
    (reason === undefined || actual.reason === reason) &&
    (stdout === undefined || (typeof stdout === 'string' ? actual.stdout === stdout : stdout.test(actual.stdout))) &&
    (error === undefined || error.test(actual.error)) &&
    (files === undefined || files.join() === actual.files.join()) &&
    (after === undefined || actual.after === `${after.stdout}\n`)
  )
}
