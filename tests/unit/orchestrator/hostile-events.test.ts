import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { ExecutionProgressPayload } from '../../../services/model/executions/events/event-types.ts'
import { normalizeBundle } from '../../../services/model/executions/event-schema.ts'
import { executionEventSchema } from '../../../services/model/executions/events/event-types.ts'
import { OutputAssembler } from '../../../services/model/executions/output-assembler.ts'
import type { ObjectStore } from '../../../services/ports/object-store.ts'
import { SupervisorError, type SupervisorEvent } from '../../../services/ports/supervisor.ts'
import { EventLogWriter } from '../../../services/jobs/event-log-writer.ts'
import { lostIn } from '../../../services/workers/run/transfer/losses.ts'
import { mergeText } from '../../../services/workers/run/stream/merge-text.ts'
import { EventRecorder } from '../../../services/workers/run/stream/record-events.ts'
import { toEvent } from '../../../services/adapters/supervisor-client/events.ts'
import { readEvents } from '../../../services/adapters/supervisor-client/event-stream.ts'
import { OutputBudget } from '../../../services/adapters/supervisor-client/output-budget.ts'
import { executionRow } from '../../support/rows.ts'

/** Generated kernel messages. `CELLBLOCK_FUZZ_RUNS=100000` is the full run. */
const RUNS = Number(process.env['CELLBLOCK_FUZZ_RUNS'] ?? 300)

const awkward = fc.constantFrom(
  'toString',
  'valueOf',
  '__proto__',
  'constructor',
  'cellblock/ref',
  'text/plain',
  'image/png',
  'application/json',
)
const anyKey = fc.oneof(awkward, fc.string({ maxLength: 20 }))
const anyJson = fc.oneof(
  fc.jsonValue({ maxDepth: 4 }),
  fc.dictionary(anyKey, fc.oneof(fc.jsonValue({ maxDepth: 2 }), fc.array(fc.string()), fc.array(fc.dictionary(awkward, fc.integer())))),
)
/** The right type mostly, so that a message gets far; any JSON otherwise. */
const mostly = <T>(right: fc.Arbitrary<T>): fc.Arbitrary<unknown> =>
  fc.oneof({ weight: 6, arbitrary: right }, { weight: 1, arbitrary: anyJson })
const anyValue = fc.oneof(anyJson, fc.array(fc.dictionary(awkward, fc.integer()), { minLength: 1 }))
const bundle = mostly(fc.dictionary(anyKey, anyValue))
const message = fc.record(
  {
    type: mostly(
      fc.constantFrom('started', 'cell_started', 'stream', 'display', 'update_display', 'clear_output', 'error', 'cell_done', 'done'),
    ),
    t: mostly(fc.nat()),
    index: mostly(fc.nat({ max: 3 })),
    name: mostly(fc.constantFrom('stdout', 'stderr', 'ValueError')),
    text: mostly(fc.string()),
    output_type: mostly(fc.constantFrom('display_data', 'execute_result')),
    data: bundle,
    metadata: bundle,
    execution_count: mostly(fc.option(fc.nat())),
    transient: mostly(fc.record({ display_id: mostly(fc.constantFrom('d', 'e')) })),
    display_id: mostly(fc.constantFrom('d', 'e')),
    wait: mostly(fc.boolean()),
    value: mostly(fc.string()),
    traceback: mostly(fc.array(fc.string())),
    status: mostly(fc.constantFrom('ok', 'error', 'aborted')),
  },
  {
    requiredKeys: [
      'type',
      't',
      'index',
      'name',
      'text',
      'output_type',
      'data',
      'metadata',
      'display_id',
      'wait',
      'value',
      'traceback',
      'status',
    ],
  },
)

/** An execution whose outputs are recorded without storage. */
function startRecording() {
  const emitted: ExecutionProgressPayload[] = []
  const assembler = new OutputAssembler([0])
  const writer = new EventLogWriter<ExecutionProgressPayload>({
    fence: 1,
    nextSeq: 1,
    now: () => 1,
    merge: mergeText,
    log: {
      append: async ({ events }) => (emitted.push(...events), true),
      written: () => undefined,
      broken: () => undefined,
    },
  })
  const objects = { put: async () => ({ bytes: 0 }) } as unknown as ObjectStore
  const log = { writer, storedThrough: -1 }
  const recorder = new EventRecorder({ objects, row: executionRow(), assembler, log, secret: 's' })
  return { emitted, assembler, writer, recorder }
}

async function* one(event: SupervisorEvent): AsyncGenerator<SupervisorEvent> {
  yield event
}

describe('a message that user code has shaped', () => {
  it('is refused as a protocol error, or becomes typed events and a result', async () => {
    let accepted = 0
    await fc.assert(
      fc.asyncProperty(fc.array(message, { minLength: 1, maxLength: 4 }), async (messages) => {
        const { emitted, assembler, writer, recorder } = startRecording()
        for (const [seq, fields] of messages.entries()) {
          let event: SupervisorEvent
          try {
            event = toEvent(JSON.parse(JSON.stringify({ ...fields, seq })))
          } catch (cause) {
            expect(cause).toBeInstanceOf(SupervisorError)
            continue
          }
          accepted += 1
          await recorder.record(one(event))
        }
        await writer.drain()
        for (const event of emitted) expect(executionEventSchema.safeParse(event)).toMatchObject({ success: true })
        expect(JSON.stringify({ cells: assembler.cells(), error: assembler.error }).isWellFormed()).toBe(true)
      }),
      { numRuns: RUNS },
    )
    expect(accepted).toBeGreaterThan(RUNS / 10)
  }, 600_000)
})

describe('a MIME bundle', () => {
  const { bundles } = JSON.parse(readFileSync(new URL('../../../runtime-image/vectors/bundles.json', import.meta.url), 'utf8')) as {
    readonly bundles: readonly { readonly name: string; readonly data: Record<string, unknown>; readonly expected: unknown }[]
  }
  it.each(bundles)('is normalised as the supervisor does it: $name', ({ data, expected }) => {
    expect(normalizeBundle(data)).toEqual(expected)
  })

  it('holds at most 64 types with names of at most 255 characters', () => {
    const many = Object.fromEntries(Array.from({ length: 100 }, (_, i) => [`text/x-${i}`, 'x']))
    expect(Object.keys(normalizeBundle(many))).toHaveLength(64)
    expect(normalizeBundle({ ['x'.repeat(256)]: 'x' })).toEqual({})
  })
})

describe('an error', () => {
  it('is bounded in every field', () => {
    const line = 'x'.repeat(100_000)
    const event = toEvent({ seq: 0, t: 0, type: 'error', index: 0, name: line, value: line.repeat(2), traceback: Array(100).fill(line) })
    expect(event).toMatchObject({ type: 'error', name: line.slice(0, 1_024) })
    expect(JSON.stringify(event).length).toBeLessThan(700_000)
  })
})

describe('the outputs of one execution', () => {
  const bounds = { richEvents: 3, richBytes: 1_000, textBytes: 100, events: 20 }
  const error: SupervisorEvent = { seq: 0, t: 0, type: 'error', index: 0, name: 'E', value: '', traceback: [] }
  const done = toEvent({
    ...{ seq: 9, t: 0, type: 'done', outcome: 'ok', run_ms: 1, cpu_ms: 1, peak_memory_bytes: 1, output_bytes: 1 },
    ...{ truncated: [], files: [], deleted: [], skipped: [] },
  })

  it('are bounded in number, errors like displays, and the envelope names what was left out', () => {
    const budget = new OutputBudget(bounds)
    const admitted = Array.from({ length: 5 }, () => budget.admit(error, 10)).filter((event) => event !== null)
    expect(admitted).toHaveLength(3)
    expect(budget.admit(done, 1)).toMatchObject({
      truncated: [{ what: 'error', totalBytes: 50, keptBytes: 30, reason: 'too_much_output' }],
    })
  })

  it('are bounded in bytes, text apart from displays', () => {
    const budget = new OutputBudget(bounds)
    expect(budget.admit(error, 1_001)).toBeNull()
    const text: SupervisorEvent = { seq: 0, t: 0, type: 'stream', index: 0, name: 'stdout', text: 'x' }
    expect(budget.admit(text, 100)).toBe(text)
    expect(budget.admit(text, 1)).toBeNull()
  })

  it('end the stream when there are too many events of any kind', () => {
    const budget = new OutputBudget(bounds)
    const clear: SupervisorEvent = { seq: 0, t: 0, type: 'clear_output', index: 0, wait: false }
    for (let i = 0; i < bounds.events; i++) budget.admit(clear, 1)
    expect(() => budget.admit(clear, 1)).toThrow(SupervisorError)
  })

  it('are counted where the stream is read', async () => {
    const line = JSON.stringify({ type: 'error', t: 0, index: 0, name: 'E', value: '', traceback: ['x'.repeat(60_000)] }).slice(0, -1)
    async function* body(): AsyncGenerator<Uint8Array> {
      for (let seq = 0; seq < 1_000; seq++) yield Buffer.from(`${line},"seq":${seq}}\n`)
      yield Buffer.from(
        `${JSON.stringify({ seq: 1_000, t: 0, type: 'done', outcome: 'ok', run_ms: 1, cpu_ms: 1, peak_memory_bytes: 1, output_bytes: 1, truncated: [], files: [], deleted: [], skipped: [] })}\n`,
      )
    }
    let bytes = 0
    let last: SupervisorEvent | undefined
    for await (const event of readEvents(body(), -1)) {
      if (event.type === 'error') bytes += event.traceback.join('').length
      last = event
    }
    expect(bytes).toBeLessThan(40 * 1024 * 1024)
    if (last?.type !== 'done') throw new Error('The stream has no envelope')
    expect(lostIn(last)).toEqual([{ what: 'error', reason: expect.stringContaining('too_much_output') }])
  })
})
