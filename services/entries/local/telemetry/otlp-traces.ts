import { ROOT_CONTEXT, SpanStatusCode, trace as traceApi, TraceFlags, type Attributes } from '@opentelemetry/api'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http'
import { defaultResource, detectResources, envDetector, resourceFromAttributes } from '@opentelemetry/resources'
import { BatchSpanProcessor, RandomIdGenerator, TracerProvider, type IdGenerator } from '@opentelemetry/sdk-trace'
import type { Telemetry } from '../../../ports/telemetry.ts'
import type { WideEvent } from '../../../model/wide-event.ts'
import { currentTrace, type Trace } from '../../../model/trace.ts'

export interface TraceExport extends Telemetry {
  /** Sends buffered spans, then stops. */
  close(): Promise<void>
}

/** Fields that contain the duration of an event, milliseconds. */
const DURATIONS = ['duration_ms', 'total_ms', 'step_ms', 'start_ms', 'claim_ms', 'wake_ms'] as const

/**
 * Exports wide events as spans by OTLP over HTTP. Endpoint, headers and timeouts follow the `OTEL_EXPORTER_OTLP_*` variables of the
 * OpenTelemetry specification. Trace and span ids are those of the log lines.
 */
export function startTraceExport(): TraceExport {
  const ids = new AmbientIds()
  const provider = new TracerProvider({
    idGenerator: ids,
    // The environment may name the service: OTEL_SERVICE_NAME, OTEL_RESOURCE_ATTRIBUTES.
    resource: defaultResource()
      .merge(resourceFromAttributes({ 'service.name': 'cellblock' }))
      .merge(detectResources({ detectors: [envDetector] })),
    spanProcessors: [new BatchSpanProcessor({ exporter: new OTLPTraceExporter() })],
  })
  const tracer = provider.getTracer('cellblock')
  /** Traces whose span id was used: later events of the same unit of work are its children. */
  const exported = new WeakSet<Trace>()
  return {
    emit(event) {
      const ambient = currentTrace()
      if (ambient === null || !ambient.isSampled) return
      const isChild = exported.has(ambient)
      exported.add(ambient)
      const parentId = isChild ? ambient.spanId : ambient.parentId
      ids.next = { traceId: ambient.traceId, spanId: isChild ? null : ambient.spanId }
      const endTime = Date.now()
      const span = tracer.startSpan(
        event.event,
        { startTime: endTime - durationOf(event), attributes: attributesOf(event) },
        parentId === null
          ? ROOT_CONTEXT
          : traceApi.setSpanContext(ROOT_CONTEXT, {
              traceId: ambient.traceId,
              spanId: parentId,
              traceFlags: TraceFlags.SAMPLED,
              isRemote: true,
            }),
      )
      if (event.outcome === 'error' || event.outcome === 'failed') span.setStatus({ code: SpanStatusCode.ERROR })
      span.end(endTime)
    },
    close: () => provider.shutdown(),
  }
}

const durationOf = (event: WideEvent): number => {
  const field = DURATIONS.find((name) => typeof event[name] === 'number')
  return field === undefined ? 0 : Math.max(0, Number(event[field]))
}

const attributesOf = (event: WideEvent): Attributes =>
  Object.fromEntries(
    Object.entries(event).flatMap(([name, value]) => (value === null || name === 'event' ? [] : [[`cellblock.${name}`, value] as const])),
  )

/** Gives the next span the ids that the log line has; `spanId` null: a random one. */
class AmbientIds implements IdGenerator {
  readonly #random = new RandomIdGenerator()
  next: { readonly traceId: string; readonly spanId: string | null } = { traceId: '', spanId: null }

  generateTraceId(): string {
    return this.next.traceId
  }

  generateSpanId(): string {
    return this.next.spanId ?? this.#random.generateSpanId()
  }
}
