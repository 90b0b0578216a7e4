import { AsyncLocalStorage } from 'node:async_hooks'
import { pooledRandom } from './random.ts'

/** A span as defined by W3C Trace Context (https://www.w3.org/TR/trace-context/); ids are lower-case hex. */
export interface Trace {
  /** 32 digits; the same for all work that one request causes. */
  readonly traceId: string
  /** 16 digits; new for each request, message and repair. */
  readonly spanId: string
  /** The span that caused this one; null when none was passed. */
  readonly parentId: string | null
  readonly isSampled: boolean
}
type Parent = Pick<Trace, 'traceId' | 'spanId' | 'isSampled'>

/** The work for one request, message or repair. It is mutable: a message names a row, and the row determines the trace; a key names the tenant. */
interface Work {
  trace: Trace
  owner: string
}
const ambient = new AsyncLocalStorage<Work>()

/** Parses a `traceparent` header. Null for an invalid value, so that no unchecked client input reaches a log. */
export function parseTraceparent(text: string | null | undefined): Parent | null {
  const [, version, traceId, spanId, flags] = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(?:$|-)/.exec(text ?? '') ?? []
  if (version === undefined || traceId === undefined || spanId === undefined || flags === undefined) return null
  const isWrong = version === 'ff' || (version === '00' && text?.length !== 55) || /^0+$/.test(traceId) || /^0+$/.test(spanId)
  return isWrong ? null : { traceId, spanId, isSampled: (parseInt(flags, 16) & 1) === 1 }
}

/** Parses AWS's header `Root=1-<8>-<24>;Parent=<16>;Sampled=1`; its root is a trace id in two parts. */
export function parseXrayHeader(text: string | null | undefined): Parent | null {
  const field = (name: string): string | undefined => new RegExp(`(?:^|;)\\s*${name}=([0-9a-f-]+)\\s*(?:;|$)`).exec(text ?? '')?.[1]
  const traceId = /^1-([0-9a-f]{8})-([0-9a-f]{24})$/
    .exec(field('Root') ?? '')
    ?.slice(1)
    .join('')
  if (traceId === undefined || /^0+$/.test(traceId)) return null
  const parent = field('Parent') ?? ''
  return { traceId, spanId: /^[0-9a-f]{16}$/.test(parent) ? parent : newSpanId(), isSampled: field('Sampled') === '1' }
}

export const formatTraceparent = ({ traceId, spanId, isSampled }: Parent): string => `00-${traceId}-${spanId}-${isSampled ? '01' : '00'}`

/** Runs `work` in a new span below `parent`; without a parent in a new trace. Its owner is that of the current work, unless one is given. */
export function inTrace<T>(parent: Parent | null, work: () => T, owner = currentOwner()): T {
  return ambient.run({ trace: spanBelow(parent), owner }, work)
}

/** From now on the process does the current work for this tenant or address. No current work changes nothing. */
export function workFor(owner: string): void {
  const current = ambient.getStore()
  if (current !== undefined) current.owner = owner
}

/** The tenant or address for which the process does the current work; empty for its own. */
export const currentOwner = (): string => ambient.getStore()?.owner ?? ''

/** Moves the current work into the trace of a row. Null, or no current work, changes nothing. */
export function joinTrace(traceparent: string | null): void {
  const current = ambient.getStore()
  const parent = parseTraceparent(traceparent)
  if (current !== undefined && parent !== null && parent.traceId !== current.trace.traceId) current.trace = spanBelow(parent)
}

export const currentTrace = (): Trace | null => ambient.getStore()?.trace ?? null

/** The `traceparent` for rows and messages; null outside of traced work. */
export function currentTraceparent(): string | null {
  const trace = currentTrace()
  return trace === null ? null : formatTraceparent(trace)
}

/** The trace fields of a log line. */
export function traceFields(): { readonly trace_id?: string; readonly span_id?: string; readonly parent_id?: string } {
  const trace = currentTrace()
  if (trace === null) return {}
  const { traceId, spanId, parentId } = trace
  return { trace_id: traceId, span_id: spanId, ...(parentId === null ? {} : { parent_id: parentId }) }
}

/** Returns a function that runs callbacks in the current trace; needed for streams, whose reader determines the context otherwise. */
export const keepTrace = (): (<T>(work: () => T) => T) => AsyncLocalStorage.snapshot()

const spanBelow = (parent: Parent | null): Trace => ({
  traceId: parent?.traceId ?? pooledRandom(16).toString('hex'),
  spanId: newSpanId(),
  parentId: parent?.spanId ?? null,
  isSampled: parent?.isSampled ?? true,
})
const newSpanId = (): string => pooledRandom(8).toString('hex')
