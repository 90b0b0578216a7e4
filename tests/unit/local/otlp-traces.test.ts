import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { currentTrace, inTrace } from '../../../services/model/trace.ts'
import { openTelemetry } from '../../../services/entries/local/telemetry/open-telemetry.ts'

interface Span {
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId?: string
  readonly name: string
  readonly startTimeUnixNano: string
  readonly endTimeUnixNano: string
  readonly attributes: readonly { readonly key: string; readonly value: object }[]
  readonly status: { readonly code?: number }
}
interface Export {
  readonly resourceSpans: readonly { readonly scopeSpans: readonly { readonly spans: readonly Span[] }[] }[]
}

const received: { readonly path: string | undefined; readonly body: Export }[] = []
const collector = createServer((request, response) => {
  void json(request).then((body) => {
    received.push({ path: request.url, body: body as Export })
    response.writeHead(200, { 'content-type': 'application/json' }).end('{}')
  })
})
beforeEach(async () => {
  received.length = 0
  await new Promise<void>((resolve) => collector.listen(0, '127.0.0.1', resolve))
  process.env['OTEL_EXPORTER_OTLP_ENDPOINT'] = `http://127.0.0.1:${(collector.address() as AddressInfo).port}`
})
afterEach(async () => {
  delete process.env['OTEL_EXPORTER_OTLP_ENDPOINT']
  collector.closeAllConnections()
  await new Promise((resolve) => collector.close(resolve))
})

const TRACE_ID = 'a1b2c3d4e5f60718293a4b5c6d7e8f90'
const CALLER = { traceId: TRACE_ID, spanId: '00f067aa0ba902b7', isSampled: true }

describe('the export of traces', () => {
  it('sends one span per event with the ids of the log lines, its duration, its fields and its status', async () => {
    const telemetry = await openTelemetry({ log: 'silent', exportsTraces: true })
    const spanId = inTrace(CALLER, () => {
      telemetry.emit({ event: 'http.request', outcome: 'failed', duration_ms: 250, tenant: 'tnt_1', status: 500 })
      telemetry.emit({ event: 'claim', outcome: 'live', claim_ms: 10 })
      return currentTrace()?.spanId
    })
    await telemetry.close()
    const spans = received.flatMap(({ body }) => body.resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap((scope) => scope.spans)))
    expect(received[0]?.path).toBe('/v1/traces')
    const [request, claim] = spans
    expect(request).toMatchObject({ traceId: TRACE_ID, spanId, parentSpanId: CALLER.spanId, name: 'http.request', status: { code: 2 } })
    expect(request?.attributes).toEqual(
      expect.arrayContaining([
        { key: 'cellblock.tenant', value: { stringValue: 'tnt_1' } },
        { key: 'cellblock.status', value: { intValue: 500 } },
      ]),
    )
    expect(Number(BigInt(request?.endTimeUnixNano ?? 0) - BigInt(request?.startTimeUnixNano ?? 0))).toBe(250_000_000)
    // A later event of the same unit of work is a child of the first.
    expect(claim).toMatchObject({ traceId: TRACE_ID, parentSpanId: spanId, name: 'claim' })
    expect(claim?.spanId).not.toBe(spanId)
  })

  it('sends nothing for events outside of a trace or in a trace that the caller does not sample', async () => {
    const telemetry = await openTelemetry({ log: 'silent', exportsTraces: true })
    telemetry.emit({ event: 'reconcile', outcome: 'ok' })
    inTrace({ ...CALLER, isSampled: false }, () => telemetry.emit({ event: 'http.request', outcome: 'ok' }))
    await telemetry.close()
    expect(received).toEqual([])
  })
})
