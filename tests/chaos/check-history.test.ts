import { describe, expect, it } from 'vitest'
import { VIOLATIONS, checkHistory, type Violation } from './check-history.ts'
import type { Entry, Job } from './history.ts'

const job = (name: string, change: Partial<Job> = {}): Job => ({
  tenant: 'tnt_a',
  container: 'cntr_a',
  execution: `exec_${name}`,
  marker: name,
  stdout: `${name} 0\n${name} 1\n`,
  file: `${name}.txt`,
  ...change,
})

const row = (of: Job, status: 'queued' | 'running' | 'succeeded' | 'failed', fence: number, change: object = {}): Entry => ({
  type: 'row',
  row: {
    tenant: of.tenant,
    id: of.execution,
    containerId: of.container,
    status,
    reason: null,
    fence,
    sandboxId: 'sbx_a',
    endedAt: status === 'succeeded' || status === 'failed' ? 5 : null,
    ...change,
  },
  owner: null,
  result: status === 'succeeded' ? of.stdout : null,
})
const queue = (...jobs: readonly Job[]): Entry => ({
  type: 'container',
  row: { tenant: 'tnt_a', id: 'cntr_a', queue: jobs.map((one) => one.execution), sandboxId: 'sbx_a', generation: 1, deletedAt: null },
})
const ran = (of: Job, phase: 'begin' | 'end', sandbox = 'sbx_a', marker = of.marker): Entry => ({
  type: 'ran',
  phase,
  sandbox,
  execution: of.execution,
  marker,
})
const batch = (of: Job, firstSeq: number, fence: number, change: object = {}): Entry => ({
  type: 'batch',
  tenant: of.tenant,
  execution: of.execution,
  firstSeq,
  events: 1,
  fence,
  hasDone: false,
  ...change,
})
const requested = (of: Job): readonly Entry[] => [
  { type: 'requested', job: of },
  { type: 'accepted', execution: of.execution },
]
const observed = (of: Job, change: Partial<Extract<Entry, { type: 'observed' }>> = {}): Entry => ({
  type: 'observed',
  execution: of.execution,
  status: 'succeeded',
  reason: null,
  stdout: of.stdout,
  files: [of.file ?? ''],
  lost: [],
  events: [
    { seq: 1, at: 0, type: 'stdout', cell: 0, text: of.stdout },
    { seq: 2, at: 0, type: 'done', status: 'succeeded', reason: null },
  ],
  ...change,
})

const A = job('a')
const B = job('b')
/** A correct history: two jobs of one container. */
const CORRECT: readonly Entry[] = [
  ...requested(A),
  ...requested(B),
  queue(A, B),
  row(A, 'running', 1),
  ran(A, 'begin'),
  batch(A, 1, 1),
  ran(A, 'end'),
  row(A, 'succeeded', 1),
  { type: 'commit', worker: 'w', execution: A.execution, fence: 1, rowFence: 1 },
  queue(B),
  row(B, 'running', 1),
  ran(B, 'begin'),
  ran(B, 'end'),
  row(B, 'running', 2),
  batch(B, 1, 2),
  row(B, 'succeeded', 2),
  { type: 'object', key: 'tenants/tnt_a/cntr_a/files/x' },
  { type: 'pushed', sandbox: 'sbx_a', path: 'x', sourceContainer: 'cntr_a' },
  { type: 'end_read', execution: A.execution, status: 'succeeded' },
  observed(A),
  observed(B),
]
const C = job('c', { tenant: 'tnt_c', container: 'cntr_c' })

/** For each violation, histories that contain it. */
const PLANTED: Readonly<Record<Violation, readonly (readonly Entry[])[]>> = {
  lost: [
    [...CORRECT, ...requested(C)],
    CORRECT.filter((entry) => !(entry.type === 'row' && entry.row.id === B.execution && entry.row.endedAt !== null)),
  ],
  ended_twice: [
    [...CORRECT, row(A, 'failed', 1)],
    [...CORRECT, row(A, 'running', 1)],
    [...CORRECT, row(A, 'succeeded', 1, { endedAt: 6 })],
  ],
  early_end: [
    [...CORRECT.slice(0, 7), { type: 'end_read', execution: A.execution, status: 'succeeded' }, ...CORRECT.slice(7)],
    [...CORRECT, { type: 'end_read', execution: A.execution, status: 'failed' }],
    [...CORRECT.slice(0, 7), batch(A, 2, 1, { hasDone: true }), ...CORRECT.slice(7)],
  ],
  ran_twice: [
    [...CORRECT.slice(0, 7), ran(A, 'begin'), ran(A, 'end'), ...CORRECT.slice(7)],
    [...CORRECT.slice(0, 7), ran(A, 'begin', 'sbx_b'), ran(A, 'end', 'sbx_b'), ...CORRECT.slice(7)],
  ],
  ran_after_end: [[...requested(A), queue(A), row(A, 'failed', 1), ran(A, 'begin'), ran(A, 'end')]],
  stale_write: [
    [...CORRECT, { type: 'commit', worker: 'slow', execution: B.execution, fence: 1, rowFence: 2 }],
    [...requested(A), row(A, 'running', 2), row(A, 'succeeded', 1)],
    [...requested(A), row(A, 'running', 1), row(A, 'succeeded', 3)],
  ],
  late_events: [
    [...CORRECT, batch(A, 2, 1)],
    CORRECT.filter((entry) => !(entry.type === 'batch' && entry.execution === B.execution)),
    [...requested(A), row(A, 'running', 1), row(A, 'running', 2), batch(A, 1, 2), batch(A, 2, 1), row(A, 'succeeded', 2)],
  ],
  out_of_order: [
    [
      ...requested(A),
      ...requested(B),
      queue(A, B),
      ran(B, 'begin'),
      ran(B, 'end'),
      ran(A, 'begin'),
      row(A, 'failed', 1),
      row(B, 'failed', 1),
    ],
  ],
  overlapped: [[...requested(A), ...requested(B), queue(A, B), ran(A, 'begin'), ran(B, 'begin'), row(A, 'failed', 1), row(B, 'failed', 1)]],
  output_wrong: [
    [...CORRECT.slice(0, -1), observed(B, { stdout: 'b 0\n' })],
    [...CORRECT.slice(0, -1), observed(B, { files: [] })],
    [...CORRECT.slice(0, -1), observed(B, { stdout: A.stdout, files: ['b.txt'] })],
  ],
  events_wrong: [
    [...CORRECT.slice(0, -1), observed(B, { events: [{ seq: 1, at: 0, type: 'stdout', cell: 0, text: B.stdout }] })],
    [...CORRECT.slice(0, -1), observed(B, { events: [{ seq: 2, at: 0, type: 'done', status: 'succeeded', reason: null }] })],
    [
      ...CORRECT.slice(0, -1),
      observed(B, {
        events: [
          { seq: 1, at: 0, type: 'stdout', cell: 0, text: B.stdout },
          { seq: 2, at: 0, type: 'stdout', cell: 0, text: 'b 1\n' },
          { seq: 3, at: 0, type: 'done', status: 'succeeded', reason: null },
        ],
      }),
    ],
  ],
  shared_sandbox: [
    [...CORRECT, ...requested(C), ran(C, 'begin'), row(C, 'failed', 1)],
    [...CORRECT, { type: 'sandbox', row: { id: 'sbx_a', state: 'claimed', claimedBy: { tenant: 'tnt_c', containerId: 'cntr_c' } } }],
    [...CORRECT, { type: 'pushed', sandbox: 'sbx_a', path: 'x', sourceContainer: 'cntr_c' }],
  ],
  foreign_bytes: [[...requested(A), queue(A), ran(A, 'begin', 'sbx_a', 'b'), row(A, 'failed', 1)]],
  foreign_key: [
    [...CORRECT, { type: 'object', key: 'tenants/tnt_other/cntr_x/files/x' }],
    [...CORRECT, { type: 'object', key: 'elsewhere/x' }],
    [...CORRECT, ...requested(C), row(C, 'failed', 1), { type: 'object', key: 'tenants/tnt_c/cntr_a/files/x' }],
  ],
}

describe('the history checker', () => {
  it('reports no violation in a correct history', () => {
    expect(checkHistory(CORRECT)).toMatchObject({ violations: [], jobs: 2, operations: CORRECT.length })
  })

  it.each(VIOLATIONS)('reports a planted %s violation', (violation) => {
    expect(PLANTED[violation].length).toBeGreaterThan(0)
    for (const entries of PLANTED[violation]) expect(checkHistory(entries).violations.map((one) => one.violation)).toContain(violation)
  })

  it('accepts a missing end when the job was deleted with its container', () => {
    const removed: Entry = { type: 'removed', key: `T#${C.tenant}#execution#${C.execution}` }
    expect(checkHistory([...CORRECT, ...requested(C), removed]).violations).toEqual([])
  })
})
