import { randomBytes } from 'node:crypto'
import { createTenant } from '../../support/create-tenant.ts'
import { startServer, type LocalServerProcess } from '../../support/local-server.ts'
import type { NativeClient, WireExecution } from '../../support/native-client.ts'
import type { Expected, Program, Tripwire } from '../corpus/program.ts'
import { prelude } from './prelude.ts'
import { startSibling } from './sibling.ts'
import { newToken, setTripwires, type Hit, type Targets, type Tripwires } from './tripwires.ts'

interface Outcome {
  readonly status: string
  readonly reason: string | null
  readonly stdout: string
  readonly error: string
  readonly files: readonly string[]
  /** What the program's `after` said; null when it has none. */
  readonly after: string | null
}

export interface Verdict {
  readonly program: Program
  readonly outcome: Outcome
  /** Canary strings in the output, and the next call's fault; filled while it runs. */
  readonly faults: readonly string[]
  readonly isTyped: boolean
  readonly token: string
}

export interface Arena {
  readonly server: LocalServerProcess
  readonly targets: Targets
  readonly tripwires: Tripwires
  /** The attacker. */
  readonly mallory: NativeClient
  /** One program in its own execution, then, unless it ended well and `isNextSkipped`, one more call that must work. */
  try(container: string, program: Program, isNextSkipped?: boolean): Promise<Verdict>
  /** Plain code with the prelude before it. */
  run(container: string, code: string): Promise<WireExecution>
  /** What was touched, by token. Knocks without a token of ours count where nobody else knocks. */
  hits(): Promise<readonly Hit[]>
  stop(): Promise<void>
}

/** Where other programs of the host may knock too, such as a cloud's SDK in search of credentials. */
const SHARED: readonly Tripwire[] = ['metadata', 'credentials', 'resolver', 'dns']
/** For programs that are to end by themselves, on a machine that may be busy with others. */
const PATIENCE_SECONDS = 90
/** For few programs: none needs the data stack, and none comes from the pool, so each sandbox is started once, when it is asked for. */
export const LIGHT = { SANDBOX_PRELOAD: 'none', CELLBLOCK_POOL: '0' }
const canary = (): string => `CANARY-${randomBytes(12).toString('hex')}`

/**
 * A real server with two tenants, and tripwires all around it: on the host's bridge, on the addresses of a cloud's metadata services, in a sibling
 * container, in a file and a variable of the host, in a file and the key of the other tenant.
 */
export async function startArena(options: {
  readonly image: string
  readonly root?: string
  readonly env?: (tripwires: Tripwires) => Readonly<Record<string, string>>
}): Promise<Arena> {
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
      SANDBOX_PRELOAD: '',
      CELLBLOCK_CANARY_SECRET: tripwires.canaries.secret,
      ...options.env?.(tripwires),
    },
  })
  started.defer(async () => void (await server.stop()))
  const aliceKey = await createTenant(server, 'alice', options.root)
  const alice = server.as(aliceKey)
  const mallory = server.as(await createTenant(server, 'mallory', options.root))
  const aliceFile = canary()
  await alice.run(await alice.createContainer(), `open("secret.txt", "w").write("${aliceFile}")`)
  const canaries = [...Object.values(tripwires.canaries), aliceFile, aliceKey]

  const everything = started.move()
  const run: Arena['run'] = (container, code) => mallory.run(container, prelude(targets, newToken()) + code)
  return {
    server,
    targets,
    tripwires,
    mallory,
    run,
    try: async (container, program, isNextSkipped = false) => {
      const token = newToken()
      const body = { code: prelude(targets, token) + program.code, timeout_seconds: program.timeoutSeconds ?? PATIENCE_SECONDS }
      const execution = await mallory.run(container, body)
      const { after } = program
      const later = after === undefined ? null : await mallory.run(container, prelude(targets, token) + after.code)
      const said = JSON.stringify([execution, later])
      const next = isNextSkipped && execution.status === 'succeeded' ? null : await mallory.run(container, 'print(6 * 7)')
      const outcome = {
        status: execution.status,
        reason: execution.reason,
        stdout: execution.stdout,
        error: execution.error === null ? '' : `${execution.error.name}: ${execution.error.value}`,
        files: execution.files.map(({ path }) => path).toSorted(),
        after: later === null ? null : later.stdout + (later.error?.name ?? ''),
      }
      const faults = [
        ...canaries.filter((text) => said.includes(text)).map((text) => `said a canary: ${nameOf(text)}`),
        ...(next === null || (next.status === 'succeeded' && next.stdout.endsWith('42\n'))
          ? []
          : [`the next call ${next.status}: ${next.reason} ${next.stdout}`]),
      ]
      return { program, outcome, faults, isTyped: matches(program, outcome), token }
    },
    hits: async () =>
      [...tripwires.hits, ...(await sibling.hits())].filter(({ tripwire, token }) => token !== null || !SHARED.includes(tripwire)),
    stop: () => everything.disposeAsync(),
  }

  function nameOf(text: string): Tripwire | 'other-file' | 'other-key' {
    if (text === tripwires.canaries.file) return 'host-file'
    if (text === tripwires.canaries.secret) return 'host-secret'
    return text === aliceFile ? 'other-file' : 'other-key'
  }
}

function matches({ expects, after }: Program, seen: Outcome): boolean {
  const { status, reason, stdout, error, files }: Expected = expects
  return (
    seen.status === status &&
    (reason === undefined || seen.reason === reason) &&
    (stdout === undefined || (typeof stdout === 'string' ? seen.stdout === stdout : stdout.test(seen.stdout))) &&
    (error === undefined || error.test(seen.error)) &&
    (files === undefined || files.join() === seen.files.join()) &&
    (after === undefined || seen.after === `${after.stdout}\n`)
  )
}
