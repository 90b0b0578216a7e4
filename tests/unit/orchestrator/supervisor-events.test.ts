import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { CellOutputs } from '../../../services/model/executions/events/cell-outputs.ts'
import { stream } from '../../../services/model/executions/events/stream.ts'
import type { SupervisorEvent } from '../../../services/ports/supervisor.ts'
import { readEvents } from '../../../services/adapters/supervisor-client/event-stream.ts'
import { toEvent } from '../../../services/adapters/supervisor-client/events.ts'
import { fileTarget, isSandboxPath } from '../../../services/adapters/supervisor-client/file-target.ts'

const event = z.looseObject({ type: z.string() })
const vectors = z
  .object({
    streams: z.array(z.object({ name: z.string(), events: z.array(event).min(1) })).min(1),
    envelopes: z.array(event).min(1),
    health: z.unknown(),
  })
  .parse(JSON.parse(readFileSync(new URL('../../../runtime-image/vectors/events.json', import.meta.url), 'utf8')))

const sha256 = 'a'.repeat(64)
const done = {
  seq: 3,
  t: 1,
  type: 'done',
  outcome: 'ok',
  run_ms: 1.5,
  cpu_ms: 1,
  peak_memory_bytes: 2,
  output_bytes: 3,
  truncated: [{ what: 'stdout', total_bytes: 9, kept_bytes: 4, reason: 'cap' }],
  files: [{ path: 'plots/a.png', bytes: 1, mtime: 1, sha256, change: 'created' }],
  deleted: ['old.csv'],
  skipped: [{ path: 'link', reason: 'symlink' }],
  state_lost: null,
  kernel_generation: 1,
  exit: null,
}

const bodyOf = async function* (events: readonly object[]): AsyncGenerator<Uint8Array> {
  yield Buffer.from(events.map((line) => `${JSON.stringify(line)}\n`).join(''))
}
const printed = (seq: number) => ({ seq, t: 1, type: 'stream', index: 0, name: 'stdout', text: 'x' })

it.each([
  ['none is missing', -1, [printed(0), printed(1), { ...done, seq: 2 }], []],
  ['the first is missing', -1, [printed(1), { ...done, seq: 2 }], ['events']],
  ['all but the last are missing', 4, [{ ...done, seq: 9 }], ['events']],
  ['a reader continues', 4, [printed(5), { ...done, seq: 6 }], []],
])('names events that the sandbox no longer had: %s', async (_case, after, events, lost) => {
  let end: SupervisorEvent | undefined
  for await (const one of readEvents(bodyOf(events), after)) end = one
  if (end?.type !== 'done') throw new Error('no end')
  expect(end.truncated.map(({ what }) => what)).toEqual(['stdout', ...lost])
})

describe('an event of a sandbox', () => {
  it.each(vectors.streams)('is parsed as the supervisor sends it: $name', async ({ events }) => {
    const seen: SupervisorEvent[] = []
    for await (const line of readEvents(bodyOf(events), -1)) seen.push(line)
    expect(seen.map((line) => line.type)).toEqual(events.map((line) => line.type))
  })

  it.each(vectors.envelopes)('is parsed as the envelope $outcome', (envelope) => {
    expect(toEvent(envelope)).toMatchObject({ type: 'done', outcome: envelope['outcome'] })
  })

  it('is mapped to the names of the port', () => {
    expect(toEvent({ seq: 0, t: 5, type: 'started', kernel_generation: 1 })).toEqual({ seq: 0, t: 5, type: 'started' })
    expect(
      toEvent({
        seq: 1,
        t: 5,
        type: 'display',
        index: 0,
        output_type: 'display_data',
        data: { 'text/plain': 'x' },
        metadata: {},
        transient: { display_id: 'd' },
      }),
    ).toEqual({
      seq: 1,
      t: 5,
      type: 'display',
      index: 0,
      outputType: 'display_data',
      data: { 'text/plain': 'x' },
      metadata: {},
      executionCount: null,
      displayId: 'd',
    })
    expect(toEvent({ seq: 2, t: 5, type: 'cell_done', index: 0, status: 'ok', execution_count: 4 })).toMatchObject({
      status: 'ok',
      executionCount: 4,
    })
    expect(toEvent({ ...done, state_lost: { reason: 'oom' } })).toMatchObject({
      type: 'done',
      runMs: 1.5,
      peakMemoryBytes: 2,
      stateLost: 'oom',
      files: [{ path: 'plots/a.png', bytes: 1, sha256, change: 'created' }],
      truncated: [{ what: 'stdout', totalBytes: 9, keptBytes: 4, reason: 'cap' }],
    })
  })

  it.each([
    null,
    [],
    'x',
    {},
    { seq: 0, t: 0, type: 'unheard_of' },
    { seq: -1, t: 0, type: 'started' },
    { seq: 0.5, t: 0, type: 'started' },
    { seq: 1e300, t: 0, type: 'started' },
    { seq: 0, t: 0, type: 'stream', index: 0, name: 'stdin', text: '' },
    { seq: 0, t: 0, type: 'stream', index: 0, name: 'stdout', text: { toString: 1 } },
    { ...done, outcome: 'fine' },
    { ...done, files: [{ path: 'a', bytes: -5, sha256, change: 'created' }] },
    { ...done, files: [{ path: 'a', bytes: 5, sha256: '../../x', change: 'created' }] },
    { ...done, run_ms: 'NaN' },
  ])('is refused when it is %j', (json) => {
    expect(() => toEvent(json)).toThrow(expect.objectContaining({ name: 'SupervisorError', code: 'protocol' }))
  })

  it('contains no lone surrogate in its text', () => {
    expect(toEvent({ seq: 0, t: 0, type: 'stream', index: 0, name: 'stdout', text: 'a\ud800b' })).toMatchObject({ text: 'a\ufffdb' })
  })

  it('has a null character that a program prints in its log and not in its result', () => {
    const event = toEvent({ seq: 0, t: 0, type: 'stream', index: 0, name: 'stdout', text: 'a\0b' })
    if (event.type !== 'stream') throw new Error('no stream')
    const outputs = new CellOutputs(true)
    stream.assemble?.(event, outputs)
    expect([outputs.text.stdout.toString(), outputs.cell(0).outputs]).toEqual([
      'a\ufffdb',
      [{ output_type: 'stream', name: 'stdout', text: 'a\ufffdb' }],
    ])
    expect(stream.logged?.(event, 0)).toMatchObject({ text: 'a\0b' })
    expect(toEvent({ seq: 0, t: 0, type: 'error', index: 0, name: 'E', value: 'a\0b', traceback: [] })).toMatchObject({ value: 'a\ufffdb' })
  })

  it('lists a file with an invalid path as skipped', () => {
    const paths = ['../x', '/etc/passwd', 'a//b', 'a/./b', 'a\0b', '', 'a\ud800']
    const event = toEvent({
      ...done,
      files: paths.map((path) => ({ path, bytes: 1, sha256, change: 'created' })),
      deleted: ['..', 'fine.txt'],
    })
    expect(event).toMatchObject({ files: [], deleted: ['fine.txt'] })
    expect(event.type === 'done' && event.skipped.length).toBe(1 + paths.length)
  })
})

describe('the target of a file', () => {
  it('is percent-encoded per segment', () => {
    expect(fileTarget('plots/a b?#%.png')).toBe('/files/plots/a%20b%3F%23%25.png')
    expect(fileTarget('日本/é.csv')).toBe('/files/%E6%97%A5%E6%9C%AC/%C3%A9.csv')
  })
  it('accepts only paths', () => {
    expect(['a', 'a/b.c', '...', ' ', 'ünï'].every(isSandboxPath)).toBe(true)
    expect(['', '.', '..', '/a', 'a/', 'a/../b', 'x'.repeat(5_000)].some(isSandboxPath)).toBe(false)
  })
})
