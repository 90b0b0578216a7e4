import { describe, expect, it } from 'vitest'
import { VIOLATIONS, checkHistory, type Violation } from './check-history.ts'
import type { Entry, Job } from './history.ts'

const job = (name: string, change: Partial<Job> = {}): Job => ({
  tenant: 'tnt_a',
  container: 'cntr_a',
  execution: `exec_${name}`,
  mark: name,
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
  said: status === 'succeeded' ? of.stdout : null,
})
const queue = (...jobs: readonly Job[]): Entry => ({
  type: 'container',
  row: { tenant: 'tnt_a', id: 'cntr_a', queue: jobs.map((one) => one.execution), sandboxId: 'sbx_a', generation: 1, deletedAt: null },
})
const ran = (of: Job, phase: 'begin' | 'end', sandbox = 'sbx_a', mark = of.mark): Entry => ({
  type: 'ran',
  phase,
  sandbox,
  execution: of.execution,
  mark,
})
const batch = (of: Job, firstSeq: number, fence: number): Entry => ({
  type: 'batch',
  tenant: of.tenant,
  execution: of.execution,
  firstSeq,
  events: 1,
  fence,
})
const asked = (of: Job): readonly Entry[] => [
  { type: 'asked', job: of },
  { type: 'accepted', execution: of.execution },
]
const seen = (of: Job, change: Partial<Extract<Entry, { type: 'seen' }>> = {}): Entry => ({
  type: 'seen',
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
/** Two jobs of one container, as they should go. */
const GOOD: readonly Entry[] = [
  ...asked(A),
  ...asked(B),
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
  { type: 'pushed', sandbox: 'sbx_a', path: 'x', of: 'cntr_a' },
  seen(A),
  seen(B),
]
const C = job('c', { tenant: 'tnt_c', container: 'cntr_c' })

/** What goes wrong, and the histories that show it. */
const PLANTED: Readonly<Record<Violation, readonly (readonly Entry[])[]>> = {
  lost: [
    [...GOOD, ...asked(C)],
    GOOD.filter((entry) => !(entry.type === 'row' && entry.row.id === B.execution && entry.row.endedAt !== null)),
  ],
  ended_twice: [
    [...GOOD, row(A, 'failed', 1)],
    [...GOOD, row(A, 'running', 1)],
    [...GOOD, row(A, 'succeeded', 1, { endedAt: 6 })],
  ],
  ran_twice: [
    [...GOOD.slice(0, 7), ran(A, 'begin'), ran(A, 'end'), ...GOOD.slice(7)],
    [...GOOD.slice(0, 7), ran(A, 'begin', 'sbx_b'), ran(A, 'end', 'sbx_b'), ...GOOD.slice(7)],
  ],
  ran_after_end: [[...asked(A), queue(A), row(A, 'failed', 1), ran(A, 'begin'), ran(A, 'end')]],
  stale_write: [
    [...GOOD, { type: 'commit', worker: 'slow', execution: B.execution, fence: 1, rowFence: 2 }],
    [...asked(A), row(A, 'running', 2), row(A, 'succeeded', 1)],
    [...asked(A), row(A, 'running', 1), row(A, 'succeeded', 3)],
  ],
  late_events: [
    [...GOOD, batch(A, 2, 1)],
    GOOD.filter((entry) => !(entry.type === 'batch' && entry.execution === B.execution)),
    [...asked(A), row(A, 'running', 1), row(A, 'running', 2), batch(A, 1, 2), batch(A, 2, 1), row(A, 'succeeded', 2)],
  ],
  out_of_order: [
    [...asked(A), ...asked(B), queue(A, B), ran(B, 'begin'), ran(B, 'end'), ran(A, 'begin'), row(A, 'failed', 1), row(B, 'failed', 1)],
  ],
  overlapped: [[...asked(A), ...asked(B), queue(A, B), ran(A, 'begin'), ran(B, 'begin'), row(A, 'failed', 1), row(B, 'failed', 1)]],
  output_wrong: [
    [...GOOD.slice(0, -1), seen(B, { stdout: 'b 0\n' })],
    [...GOOD.slice(0, -1), seen(B, { files: [] })],
    [...GOOD.slice(0, -1), seen(B, { stdout: A.stdout, files: ['b.txt'] })],
  ],
  events_wrong: [
    [...GOOD.slice(0, -1), seen(B, { events: [{ seq: 1, at: 0, type: 'stdout', cell: 0, text: B.stdout }] })],
    [...GOOD.slice(0, -1), seen(B, { events: [{ seq: 2, at: 0, type: 'done', status: 'succeeded', reason: null }] })],
    [
      ...GOOD.slice(0, -1),
      seen(B, {
        events: [
          { seq: 1, at: 0, type: 'stdout', cell: 0, text: B.stdout },
          { seq: 2, at: 0, type: 'stdout', cell: 0, text: 'b 1\n' },
          { seq: 3, at: 0, type: 'done', status: 'succeeded', reason: null },
        ],
      }),
    ],
  ],
  shared_sandbox: [
    [...GOOD, ...asked(C), ran(C, 'begin'), row(C, 'failed', 1)],
    [...GOOD, { type: 'sandbox', row: { id: 'sbx_a', state: 'claimed', claimedBy: { tenant: 'tnt_c', containerId: 'cntr_c' } } }],
    [...GOOD, { type: 'pushed', sandbox: 'sbx_a', path: 'x', of: 'cntr_c' }],
  ],
  foreign_bytes: [[...asked(A), queue(A), ran(A, 'begin', 'sbx_a', 'b'), row(A, 'failed', 1)]],
  foreign_key: [
    [...GOOD, { type: 'object', key: 'tenants/tnt_other/cntr_x/files/x' }],
    [...GOOD, { type: 'object', key: 'elsewhere/x' }],
    [...GOOD, ...asked(C), row(C, 'failed', 1), { type: 'object', key: 'tenants/tnt_c/cntr_a/files/x' }],
  ],
}

describe('the history checker', () => {
  it('finds nothing in a history in which all went well', () => {
    expect(checkHistory(GOOD)).toMatchObject({ found: [], jobs: 2, operations: GOOD.length })
  })

  it.each(VIOLATIONS)('finds a planted violation of the kind %s', (violation) => {
    expect(PLANTED[violation].length).toBeGreaterThan(0)
    for (const entries of PLANTED[violation]) expect(checkHistory(entries).found.map((one) => one.violation)).toContain(violation)
  })

  it('lets a job go with its container', () => {
    const removed: Entry = { type: 'removed', key: `T#${C.tenant}#execution#${C.execution}` }
    expect(checkHistory([...GOOD, ...asked(C), removed]).found).toEqual([])
  })
})
