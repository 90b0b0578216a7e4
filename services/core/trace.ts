import { AsyncLocalStorage } from 'node:async_hooks'
import { randomBytes } from 'node:crypto'

/** One piece of work of a trace, as W3C Trace Context (https://www.w3.org/TR/trace-context/) has it: ids are lower-case hex. */
export interface Trace {
  /** 32 digits; the same in everything that one request causes. */
  readonly traceId: string
  /** 16 digits; new for each request, message and repair. */
  readonly spanId: string
  /** The piece of work that asked for this one; null when nobody told of any. */
  readonly parentId: string | null
  readonly isSampled: boolean
}
type Parent = Pick<Trace, 'traceId' | 'spanId' | 'isSampled'>

/** The cell can be given another trace: a message names a row, and only the row says whose work it is. */
const ambient = new AsyncLocalStorage<{ trace: Trace }>()

/** A header as clients and queues carry it. Null for anything that is none, so that no byte of a stranger gets into a log. */
export function parseTraceparent(text: string | null | undefined): Parent | null {
  const [, version, traceId, spanId, flags] = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(?:$|-)/.exec(text ?? '') ?? []
  if (version === undefined || traceId === undefined || spanId === undefined || flags === undefined) return null
  const isWrong = version === 'ff' || (version === '00' && text?.length !== 55) || /^0+$/.test(traceId) || /^0+$/.test(spanId)
  return isWrong ? null : { traceId, spanId, isSampled: (parseInt(flags, 16) & 1) === 1 }
}

/** AWS's own header, `Root=1-<8>-<24>;Parent=<16>;Sampled=1`: its root is a trace id in two parts. */
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

/** Does work as a new span below `parent`; without one as the first of a new trace. */
export function inTrace<T>(parent: Parent | null, work: () => T): T {
  return ambient.run({ trace: spanBelow(parent) }, work)
}

/** From now on this work belongs to the trace of a row; null changes nothing. Without any work under way it does nothing. */
export function joinTrace(traceparent: string | null): void {
  const cell = ambient.getStore()
  const parent = parseTraceparent(traceparent)
  if (cell !== undefined && parent !== null && parent.traceId !== cell.trace.traceId) cell.trace = spanBelow(parent)
}

export const currentTrace = (): Trace | null => ambient.getStore()?.trace ?? null

/** For rows and messages; null outside of any traced work. */
export function currentTraceparent(): string | null {
  const trace = currentTrace()
  return trace === null ? null : formatTraceparent(trace)
}

/** What every log line says of the work that wrote it. */
export function traceFields(): { readonly trace_id?: string; readonly span_id?: string; readonly parent_id?: string } {
  const trace = currentTrace()
  if (trace === null) return {}
  const { traceId, spanId, parentId } = trace
  return { trace_id: traceId, span_id: spanId, ...(parentId === null ? {} : { parent_id: parentId }) }
}

/** Calls functions as part of the present work, from wherever they are called: streams are pulled by whoever reads them. */
export const keepTrace = (): (<T>(work: () => T) => T) => AsyncLocalStorage.snapshot()

const spanBelow = (parent: Parent | null): Trace => ({
  traceId: parent?.traceId ?? randomBytes(16).toString('hex'),
  spanId: newSpanId(),
  parentId: parent?.spanId ?? null,
  isSampled: parent?.isSampled ?? true,
})
const newSpanId = (): string => randomBytes(8).toString('hex')
