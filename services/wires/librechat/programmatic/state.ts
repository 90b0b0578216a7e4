import type { Container } from '../../../model/containers/container.ts'
import { ServiceError } from '../../../model/errors.ts'
import { newObjectKey, objectPrefix } from '../../../model/object-keys.ts'
import { containerOf } from '../../../operations/access.ts'
import type { Call } from '../../../http/route.ts'
import type { InputFile } from '../schema.ts'
import type { ProgramLanguage } from './identifiers.ts'

/** Time in which the client has to send the results of a call, milliseconds. */
const KEPT_MS = 10 * 60_000
const TOKEN = /^(cntr_[0-9a-z]{1,40})\.([\w-]{32})$/

export interface RecordedResult {
  readonly result: unknown
  readonly is_error: boolean
  readonly error_message: string
}

/** A program between two runs. */
export interface Program {
  readonly code: string
  readonly language: ProgramLanguage
  /** Pairs of function and tool name. */
  readonly tools: readonly (readonly [string, string])[]
  /** By call id. */
  readonly results: Readonly<Record<string, RecordedResult>>
  readonly files: readonly InputFile[]
  readonly timeoutMs: number | null
  /** The container belongs to a runtime hint, so that files of other executions are in it. */
  readonly isShared: boolean
}

interface Stored {
  readonly program: Program
  readonly waitingFor: readonly string[]
  readonly expiresAt: number
}

type StateCall = Pick<Call, 'deps' | 'caller'>

/** Stores a program that waits for results. Returns its continuation token: the container and the random end of the object's key. */
export async function storeProgram(
  { deps }: StateCall,
  container: Container,
  program: Program,
  waitingFor: readonly string[],
): Promise<string> {
  const key = newObjectKey(container.tenant, 'requests', container.id)
  const stored: Stored = { program, waitingFor, expiresAt: deps.clock.now() + KEPT_MS }
  await deps.objects.put(key, Buffer.from(JSON.stringify(stored)), { contentType: 'application/json' })
  return `${container.id}.${key.slice(key.lastIndexOf('/') + 1)}`
}

/** Removes and returns the program of a token: it can be continued once. Throws ServiceError `invalid_request` for an unknown or old token. */
export async function takeProgram(
  call: StateCall,
  token: string,
): Promise<{ readonly container: Container; readonly program: Program; readonly waitingFor: readonly string[] }> {
  const { deps } = call
  const [, containerId = '', random = ''] = TOKEN.exec(token) ?? []
  const unknown = new ServiceError(
    'invalid_request',
    'The continuation token is unknown or older than 10 minutes. Start the program again.',
    {
      param: 'continuation_token',
    },
  )
  if (containerId === '') throw unknown
  const container = await containerOf(call, containerId, 'run')
  const key = `${objectPrefix(container.tenant, container.id)}requests/${random}`
  const object = await deps.objects.get(key)
  if (object === null) throw unknown
  const { program, waitingFor, expiresAt } = JSON.parse(await text(object.body)) as Stored
  const now = deps.clock.now()
  // Of two requests at the same time both may have read the object.
  const record = { bodyHash: '', resultId: container.id, expiresAt: expiresAt + KEPT_MS }
  const { isNew } = await deps.table.idempotency.claim(container.tenant, 'librechat-program', `${container.id} ${random}`, record, now)
  await deps.objects.delete(key)
  if (!isNew || expiresAt < now) throw unknown
  return { container, program, waitingFor }
}

async function text(body: AsyncIterable<Uint8Array>): Promise<string> {
  const parts: Uint8Array[] = []
  for await (const part of body) parts.push(part)
  return Buffer.concat(parts).toString()
}
