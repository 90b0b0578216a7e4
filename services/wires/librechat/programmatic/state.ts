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

/** Code and results of a program, bytes. They travel uncompressed through the memory of this process with every continuation. */
export const MAX_PROGRAM_BYTES = 4 * 2 ** 20

/** Size of code and results, bytes. Throws ServiceError `request_too_large` above the maximum, without measuring the rest. */
export function measureProgram({ code, results }: Pick<Program, 'code' | 'results'>): number {
  let bytes = Buffer.byteLength(code)
  for (const result of Object.values(results)) if (bytes <= MAX_PROGRAM_BYTES) bytes += Buffer.byteLength(JSON.stringify(result))
  if (bytes > MAX_PROGRAM_BYTES)
    throw new ServiceError(
      'request_too_large',
      `The code and all tool results of a program may have ${MAX_PROGRAM_BYTES} bytes. Return less from the tools, or upload the data as a file.`,
      { param: 'tool_results' },
    )
  return bytes
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
  { program, waitingFor }: { readonly program: Program; readonly waitingFor: readonly string[] },
): Promise<string> {
  const key = newObjectKey(container.tenant, 'requests', container.id)
  const stored: Stored = { program, waitingFor, expiresAt: deps.clock.now() + KEPT_MS }
  await deps.objects.put(key, Buffer.from(JSON.stringify(stored)), { contentType: 'application/json' })
  return `${container.id}.${key.slice(key.lastIndexOf('/') + 1)}`
}

/**
 * Removes the program of a token, which can be continued once, and returns what `continued` makes of it. If `continued` throws, the token remains valid.
 * Throws ServiceError `invalid_request` for an unknown or old token.
 */
export async function takeProgram(
  call: StateCall,
  token: string,
  continued: (program: Program, waitingFor: readonly string[]) => Program,
): Promise<{ readonly container: Container; readonly program: Program }> {
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
  const { program: former, waitingFor, expiresAt } = JSON.parse(await text(object.body)) as Stored
  const program = continued(former, waitingFor)
  const now = deps.clock.now()
  // Of two requests at the same time both may have read the object.
  const record = { bodyHash: '', resultId: container.id, expiresAt: expiresAt + KEPT_MS }
  const { isNew } = await deps.table.idempotency.claim(container.tenant, {
    scope: 'librechat-program',
    key: `${container.id} ${random}`,
    record,
    now,
  })
  await deps.objects.delete(key)
  if (!isNew || expiresAt < now) throw unknown
  return { container, program }
}

async function text(body: AsyncIterable<Uint8Array>): Promise<string> {
  const parts: Uint8Array[] = []
  for await (const part of body) parts.push(part)
  return Buffer.concat(parts).toString()
}
