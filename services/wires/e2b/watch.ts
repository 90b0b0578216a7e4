import { randomUUID } from 'node:crypto'
import { posix } from 'node:path'
import * as z from 'zod'
import { parseHostileJson } from '../../model/scan-json.ts'
import { openObject } from '../../model/bounded-schemas.ts'
import { lazySchema, type Described } from '../../model/lazy-schema.ts'
import type { Container } from '../../model/containers/container.ts'
import { ServiceError } from '../../model/errors.ts'
import type { ExecutionEvent } from '../../model/executions/execution-event.ts'
import { hasEnded, type Execution } from '../../model/executions/execution.ts'
import { LIMITS } from '../../model/limits.ts'
import { runCommand } from '../../operations/commands/run-command.ts'
import { cancelExecution } from '../../operations/executions/cancel-execution.ts'
import { executionEvents } from '../../operations/executions/execution-events.ts'
import { sendCommandInput } from '../../operations/commands/send-input.ts'
import { SandboxEntry, watchArguments } from '../../operations/files/sandbox-files.ts'
import type { AnyRoute, Call } from '../../http/route.ts'
import { serverStream, unary } from './connect.ts'
import { entryInfo, METADATA_PREFIX } from './filesystem.ts'
import { sandboxPath, type SandboxPath } from '../../operations/files/sandbox-path.ts'
import { useSandbox } from './open-sandbox.ts'
import { changeSession, type Session } from './session.ts'
import { safeParse } from '../../model/safe-parse.ts'

/** A change as the program in the sandbox prints it, one per line. */
const Change = lazySchema(() =>
  z.object({
    op: z.string(),
    path: z.string().optional(),
    from: z.string().optional(),
    id: z.string().optional(),
    entry: SandboxEntry().optional(),
  }),
)
const TYPES: Readonly<Record<string, string>> = {
  create: 'EVENT_TYPE_CREATE',
  write: 'EVENT_TYPE_WRITE',
  chmod: 'EVENT_TYPE_CHMOD',
  remove: 'EVENT_TYPE_REMOVE',
  moved_away: 'EVENT_TYPE_RENAME',
}
const MAX_WATCHERS = 10
/** `CreateWatcher` answers when the folder is watched, or after this time, milliseconds. */
const START_MS = 30_000
/** `GetWatcherEvents` waits so long for the changes before it, milliseconds. */
const SYNC_MS = 10_000

interface FilesystemEvent {
  readonly name: string
  readonly type: string
  readonly entry?: Readonly<Record<string, unknown>>
}

const WatchRequest = lazySchema(() =>
  openObject({ path: z.string(), recursive: z.boolean().optional(), includeEntry: z.boolean().optional() }),
)
type WatchRequest = Described<typeof WatchRequest>
const at = (procedure: string): string => `/filesystem.Filesystem/${procedure}`

async function startWatcher(
  call: Call,
  { path, recursive, includeEntry }: WatchRequest,
): Promise<{ readonly execution: Execution; readonly root: SandboxPath }> {
  const { container, context } = await useSandbox(call)
  const root = sandboxPath(path)
  const { timeoutSeconds } = await call.deps.limits.of(container.tenant)
  const { execution } = await runCommand(context, {
    containerId: container.id,
    argv: watchArguments({
      path: root.real,
      recursive: recursive === true,
      with_entry: includeEntry === true,
      attributes: METADATA_PREFIX,
    }),
    stdin: 'open',
    timeoutSeconds: Math.min(timeoutSeconds, LIMITS.maxTimeoutSeconds),
    isBackground: true,
    waitMs: 0,
  })
  return { execution, root }
}

/** Complete lines of the program's output, which arrives in pieces. */
class Lines {
  #rest = ''
  take(event: ExecutionEvent): readonly string[] {
    if (event.type !== 'stdout') return []
    const lines = (this.#rest + event.text).split('\n')
    this.#rest = lines.pop() ?? ''
    return lines
  }
}

/** A rename is two events, as E2B has it. The line comes from the sandbox, so a malformed one counts as none. */
function eventsOf(line: string, root: SandboxPath): readonly FilesystemEvent[] {
  const change = parsed(line)
  if (change?.path === undefined) return []
  const nameOf = (path: string): string => posix.relative(root.real, path)
  const entry = change.entry && { entry: entryInfo(change.entry, root) }
  if (change.op === 'rename' && change.from !== undefined)
    return [
      { name: nameOf(change.from), type: 'EVENT_TYPE_RENAME' },
      { name: nameOf(change.path), type: 'EVENT_TYPE_CREATE', ...entry },
    ]
  const type = TYPES[change.op]
  return type === undefined ? [] : [{ name: nameOf(change.path), type, ...entry }]
}

const parsed = (line: string): Described<typeof Change> | undefined => safeParse(Change(), parseHostileJson(line)).data

const isReady = (line: string): boolean => parsed(line)?.op === 'watching'

const watchDir = serverStream({ path: at('WatchDir'), scope: 'files', body: WatchRequest }, async (call, request) => {
  const { execution, root } = await startWatcher(call, request)
  return (signal) => messages(call, execution, { root, signal })
})

/** The stream of one watcher, which ends with its reader. */
async function* messages(
  call: Call,
  execution: Execution,
  { root, signal }: { readonly root: SandboxPath; readonly signal: AbortSignal },
): AsyncGenerator<Readonly<Record<string, unknown>>, void, undefined> {
  const lines = new Lines()
  let isStarted = false
  try {
    for await (const event of executionEvents(call.deps, execution, { after: 0, signal })) {
      // Clients take any other first message as a failure.
      if (event === null) yield* isStarted ? [{ keepalive: {} }] : []
      else if (event.type === 'done') throw notWatched(quoted(root.shown))
      else
        for (const line of lines.take(event)) {
          if (isReady(line)) {
            isStarted = true
            yield { start: {} }
          }
          for (const filesystem of eventsOf(line, root)) yield { filesystem }
        }
    }
  } finally {
    await cancelExecution(call.deps, execution)
  }
}

const quoted = (root: string): string => JSON.stringify(root.slice(0, 200))
const notWatched = (what: string): ServiceError =>
  new ServiceError(
    'file_not_found',
    `The folder ${what} is not watched: it does not exist, or its watcher has ended. Watch it again, or create the folder first.`,
  )

type Watcher = Session['watchers'][number]

/** Changes the list of watchers. */
const changeWatchers = (call: Call, container: Container, change: (watchers: readonly Watcher[]) => readonly Watcher[]) =>
  changeSession(call, container, (session) => session && { ...session, watchers: change(session.watchers) })

const createWatcher = unary({ path: at('CreateWatcher'), scope: 'files', body: WatchRequest }, async (call, body) => {
  const { container, session } = await useSandbox(call)
  if (session.watchers.length >= MAX_WATCHERS)
    throw new ServiceError('conflict', `The sandbox has ${MAX_WATCHERS} watchers, the maximum. Remove one.`)
  const { execution, root } = await startWatcher(call, body)
  const seq = await readySeq(call, execution, root)
  const watcher = { id: execution.id, root: root.shown, seq }
  await changeWatchers(call, container, (watchers) => [...watchers, watcher])
  return { watcherId: execution.id }
})

/** The number of the event by which the folder is watched. Throws ServiceError when the watcher ends before. */
async function readySeq(call: Call, execution: Execution, root: SandboxPath): Promise<number> {
  const lines = new Lines()
  const signal = AbortSignal.any([call.request.signal, AbortSignal.timeout(START_MS)])
  for await (const event of executionEvents(call.deps, execution, { after: 0, signal })) {
    if (event?.type === 'done') break
    if (event !== null && lines.take(event).some(isReady)) return event.seq
  }
  await cancelExecution(call.deps, execution)
  throw notWatched(quoted(root.shown))
}

const ofWatcher = lazySchema(() => openObject({ watcherId: z.string() }))

/** Events since the last call for the same watcher: all of the changes before this call. */
const getWatcherEvents = unary({ path: at('GetWatcherEvents'), scope: 'files', body: ofWatcher }, async (call, { watcherId }) => {
  const { container, session } = await useSandbox(call)
  const watcher = session.watchers.find(({ id }) => id === watcherId)
  if (watcher === undefined) throw notWatched('of this watcher')
  const execution = await call.deps.table.executions.get(container.tenant, watcher.id)
  if (execution === null) throw notWatched('of this watcher')
  const { events, seq } = await newEvents(call, execution, { root: sandboxPath(watcher.root), after: watcher.seq })
  const seen = (one: Watcher): Watcher => (one.id === watcherId ? { ...one, seq } : one)
  if (seq !== watcher.seq) await changeWatchers(call, container, (watchers) => watchers.map(seen))
  return { events }
})

/** Reads until the program in the sandbox has answered this call, has ended, or a time limit has passed. */
async function newEvents(
  call: Call,
  execution: Execution,
  { root, after }: { readonly root: SandboxPath; readonly after: number },
): Promise<{ readonly events: readonly FilesystemEvent[]; readonly seq: number }> {
  const id = randomUUID()
  // A program that has ended takes no input, but its log has changes.
  if (!hasEnded(execution.status))
    await sendCommandInput(call.deps, execution, { type: 'stdin', data: Buffer.from(`${id}\n`).toString('base64') })
  const lines = new Lines()
  const events: FilesystemEvent[] = []
  let seq = after
  const signal = AbortSignal.any([call.request.signal, AbortSignal.timeout(SYNC_MS)])
  for await (const event of executionEvents(call.deps, execution, { after, signal })) {
    if (event?.type === 'done') break
    if (event === null) continue
    seq = event.seq
    const found = lines.take(event)
    events.push(...found.flatMap((line) => eventsOf(line, root)))
    if (found.some((line) => parsed(line)?.id === id)) break
  }
  return { events, seq }
}

const removeWatcher = unary({ path: at('RemoveWatcher'), scope: 'files', body: ofWatcher }, async (call, { watcherId }) => {
  const { container, session } = await useSandbox(call)
  if (!session.watchers.some(({ id }) => id === watcherId)) throw notWatched('of this watcher')
  await cancelExecution(call.deps, { tenant: container.tenant, id: watcherId })
  await changeWatchers(call, container, (watchers) => watchers.filter(({ id }) => id !== watcherId))
  return {}
})

export const watchRoutes: readonly AnyRoute[] = [watchDir, createWatcher, getWatcherEvents, removeWatcher]
