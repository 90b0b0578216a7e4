import type { Execution } from '../../../model/executions/execution.ts'
import { loggedEvent, type SandboxEvent } from '../../../model/executions/events/event-types.ts'
import type { OutputAssembler } from '../../../model/executions/output-assembler.ts'
import { LIMITS } from '../../../model/limits.ts'
import { REF_MIME, type MimeBundle, type OutputRef } from '../../../model/executions/outputs.ts'
import { derivedObjectKey } from '../../../model/object-keys.ts'
import type { ObjectStore } from '../../../ports/object-store.ts'
import type { SupervisorEnvelope, SupervisorEvent } from '../../../ports/supervisor.ts'
import type { ExecutionLog } from './execution-log.ts'
import { InvalidOutputError } from './failures.ts'

const BINARY = /^(image\/(?!svg\+xml)|audio\/|video\/|application\/(pdf|octet-stream|zip))/
const JSON_TYPE = /(\+json|^application\/json)$/

/** Events that wait for the log, bytes of JSON. */
const MAX_WAITING_BYTES = 2 * 1024 * 1024

export interface RecorderOptions {
  readonly objects: ObjectStore
  readonly row: Execution
  readonly assembler: OutputAssembler
  readonly log: ExecutionLog
  /** The sandbox's private key; the object keys of large outputs are derived from it, so a successor computes the same keys. */
  readonly secret: string
}

/** Adds a supervisor's events to the result, and new ones to the event log. */
export class EventRecorder {
  readonly #options: RecorderOptions
  #lastSeq = -1

  constructor(options: RecorderOptions) {
    this.#options = options
  }

  /** The last supervisor event that was recorded; −1 for none. */
  get lastSeq(): number {
    return this.#lastSeq
  }

  /** Returns the envelope; null when the stream ended without one. Throws InvalidOutputError for an event that no retry can read. */
  async record(events: AsyncIterable<SupervisorEvent>): Promise<SupervisorEnvelope | null> {
    for await (const event of events) {
      this.#lastSeq = event.seq
      if (event.type === 'done') return event
      this.#add(await this.#spill(event))
      // The sandbox waits while the log is slower than it.
      if (this.#options.log.writer.waitingBytes > MAX_WAITING_BYTES) await this.#options.log.writer.drain()
    }
    return null
  }

  #add(event: SandboxEvent): void {
    const { assembler, log } = this.#options
    const payload = deterministic(() => {
      assembler.add(event)
      return event.seq <= log.storedThrough ? null : loggedEvent(event, (index) => assembler.cellIndex(index))
    })
    if (payload !== null) log.writer.emit(payload, 'paced', event.seq)
  }

  async #spill(event: SandboxEvent): Promise<SandboxEvent> {
    if (event.type !== 'display' && event.type !== 'update_display') return event
    const { objects, row, log, secret } = this.#options
    const keyOf = (mime: string): string =>
      derivedObjectKey(secret, { tenant: row.tenant, kind: 'outputs', parentId: row.containerId, name: `${row.id} ${event.seq} ${mime}` })
    const isStored = event.seq <= log.storedThrough
    return { ...event, data: await spillBundle(objects, event.data, { keyOf, isStored }) }
  }
}

/** Work on a sandbox's data without a call of a store would fail in every retry. */
function deterministic<T>(work: () => T): T {
  try {
    return work()
  } catch (cause) {
    throw new InvalidOutputError('An output of the code could not be read', { cause })
  }
}

/**
 * Stores the parts of a MIME bundle that are too large for a row as objects. `cellblock/ref` of the returned bundle has the reference, or a list of
 * references. Text up to 64 KB and images up to 256 KB of base64 stay inline. A `cellblock/ref` in the kernel's bundle is dropped, because it could
 * name another tenant's object. `keyOf` returns the same key for the same part of the same output, so a step that reads an execution again finds
 * the objects; with `isStored` they are not stored again.
 */
async function spillBundle(
  objects: Pick<ObjectStore, 'put'>,
  bundle: MimeBundle,
  options: { readonly keyOf: (mime: string) => string; readonly isStored: boolean },
): Promise<MimeBundle> {
  const kept: Record<string, unknown> = {}
  const refs: OutputRef[] = []
  for (const [mime, value] of Object.entries(bundle)) {
    if (mime === REF_MIME) continue
    const body = bigPart(mime, value)
    if (body === null) {
      kept[mime] = value
      continue
    }
    const objectKey = options.keyOf(mime)
    if (!options.isStored) await objects.put(objectKey, body, { contentType: mime })
    refs.push({ objectKey, bytes: body.length, mime })
  }
  if (refs.length === 1) kept[REF_MIME] = refs[0]
  else if (refs.length > 1) kept[REF_MIME] = refs
  return kept
}

/** The bytes of a part that is too large to stay inline; null for a smaller one. */
function bigPart(mime: string, value: unknown): Uint8Array | null {
  const text = typeof value === 'string' ? value : Array.isArray(value) && !JSON_TYPE.test(mime) ? value.join('') : JSON.stringify(value)
  const limit = BINARY.test(mime) ? LIMITS.maxInlineBinaryBytes : LIMITS.maxInlineTextBytes
  if (text.length <= limit) return null
  return Buffer.from(text, BINARY.test(mime) ? 'base64' : 'utf8')
}
