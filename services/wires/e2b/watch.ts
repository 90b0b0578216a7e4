import { posix } from 'node:path'
import * as z from 'zod'
import { parseHostileJson } from '../../model/scan-json.ts'
import { openObject } from '../../model/bounded-schemas.ts'
import { lazySchema, type Described } from '../../model/lazy-schema.ts'
import type { Container } from '../../model/containers/container.ts'
import { ServiceError } from '../../model/errors.ts'
import type { ExecutionEvent } from '../../model/executions/execution-event.ts'
import type { Execution } from '../../model/executions/execution.ts'
import { LIMITS } from '../../model/limits.ts'
import { runCommand } from '../../operations/commands/run-command.ts'
import { cancelExecution } from '../../operations/executions/cancel-execution.ts'
import { executionEvents } from '../../operations/executions/execution-events.ts'
import { watchArguments } from '../../operations/files/sandbox-files.ts'
import type { AnyRoute, Call } from '../../http/route.ts'
import { serverStream, unary } from './connect.ts'
import { sandboxPath } from './paths.ts'
import { useSandbox } from './open-sandbox.ts'
import { changeSession, type Session } from './session.ts'

/** A change as the program in the sandbox prints it, one per line. */
const Change = lazySchema(() => z.object({ op: z.string(), path: z.string().optional(), from: z.string().optional() }))
const TYPES: Readonly<Record<string, string>> = { create: 'EVENT_TYPE_CREATE', write: 'EVENT_TYPE_WRITE', remove: 'EVENT_TYPE_REMOVE' }
const MAX_WATCHERS = 10
/** `CreateWatcher` answers when the folder is watched, or after this time, milliseconds. */
const START_MS = 30_000

interface FilesystemEvent {
  readonly name: string
  readonly type: string
}

const WatchRequest = lazySchema(() => openObject({ path: z.string(), recursive: z.boolean().optional() }))
type WatchRequest = Described<typeof WatchRequest>
const at = (procedure: string): string => `/filesystem.Filesystem/${procedure}`

async function startWatcher(
  call: Call,
  { path, recursive }: WatchRequest,
): Promise<{ readonly execution: Execution; readonly root: string }> {
  const { container, context } = await useSandbox(call)
  const root = sandboxPath(path).real
  const { timeoutSeconds } = await call.deps.limits.of(container.tenant)
  const { execution } = await runCommand(context, {
    containerId: container.id,
    argv: watchArguments(root, recursive === true),
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
function eventsOf(line: string, root: string): readonly FilesystemEvent[] {
  const change = parsed(line)
  if (change?.path === undefined) return []
  const nameOf = (path: string): string => posix.relative(root, path)
  if (change.op === 'rename' && change.from !== undefined)
    return [
      { name: nameOf(change.from), type: 'EVENT_TYPE_RENAME' },
      { name: nameOf(change.path), type: 'EVENT_TYPE_CREATE' },
    ]
  const type = TYPES[change.op]
  return type === undefined ? [] : [{ name: nameOf(change.path), type }]
}

const parsed = (line: string): Described<typeof Change> | undefined => Change().safeParse(parseHostileJson(line)).data

const isReady = (line: string): boolean => parsed(line)?.op === 'watching'

const watchDir = serverStream({ path: at('WatchDir'), scope: 'files', body: WatchRequest }, async (call, request) => {
  const { execution, root } = await startWatcher(call, request)
  return (signal) => messages(call, execution, { root, signal })
})

/** The stream of one watcher, which ends with its reader. */
async function* messages(
  call: Call,
  execution: Execution,
  { root, signal }: { readonly root: string; readonly signal: AbortSignal },
): AsyncGenerator<Readonly<Record<string, unknown>>, void, undefined> {
  const lines = new Lines()
  try {
    for await (const event of executionEvents(call.deps, execution, { after: 0, signal })) {
      if (event === null) yield { keepalive: {} }
      else if (event.type === 'done') throw notWatched(quoted(root))
      else
        for (const line of lines.take(event)) {
          if (isReady(line)) yield { start: {} }
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
  const watcher = { id: execution.id, root, seq }
  await changeWatchers(call, container, (watchers) => [...watchers, watcher])
  return { watcherId: execution.id }
})

/** The number of the event by which the folder is watched. Throws ServiceError when the watcher ends before. */
async function readySeq(call: Call, execution: Execution, root: string): Promise<number> {
  const lines = new Lines()
  const signal = AbortSignal.any([call.request.signal, AbortSignal.timeout(START_MS)])
  for await (const event of executionEvents(call.deps, execution, { after: 0, signal })) {
    if (event?.type === 'done') break
    if (event !== null && lines.take(event).some(isReady)) return event.seq
  }
  await cancelExecution(call.deps, execution)
  throw notWatched(quoted(root))
}

const ofWatcher = lazySchema(() => openObject({ watcherId: z.string() }))

/** Events since the last call for the same watcher. */
const getWatcherEvents = unary({ path: at('GetWatcherEvents'), scope: 'files', body: ofWatcher }, async (call, { watcherId }) => {
  const { container, session } = await useSandbox(call)
  const watcher = session.watchers.find(({ id }) => id === watcherId)
  if (watcher === undefined) throw notWatched('of this watcher')
  const lines = new Lines()
  const events: FilesystemEvent[] = []
  let { seq } = watcher
  const owner = { kind: 'execution', tenant: container.tenant, id: watcher.id } as const
  for (const event of await call.deps.table.events.read<ExecutionEvent>(owner, seq, 1_000)) {
    events.push(...lines.take(event).flatMap((line) => eventsOf(line, watcher.root)))
    seq = event.seq
  }
  const seen = (one: Watcher): Watcher => (one.id === watcherId ? { ...one, seq } : one)
  if (seq !== watcher.seq) await changeWatchers(call, container, (watchers) => watchers.map(seen))
  return { events }
})

const removeWatcher = unary({ path: at('RemoveWatcher'), scope: 'files', body: ofWatcher }, async (call, { watcherId }) => {
  const { container, session } = await useSandbox(call)
  if (!session.watchers.some(({ id }) => id === watcherId)) throw notWatched('of this watcher')
  await cancelExecution(call.deps, { tenant: container.tenant, id: watcherId })
  await changeWatchers(call, container, (watchers) => watchers.filter(({ id }) => id !== watcherId))
  return {}
})

export const watchRoutes: readonly AnyRoute[] = [watchDir, createWatcher, getWatcherEvents, removeWatcher]
