import { describe, expect, it } from 'vitest'
import type { SupervisorEnvelope } from '../../../services/ports/supervisor.ts'
import { lostIn } from '../../../services/workers/run/transfer/losses.ts'

const envelope = (fields: Partial<SupervisorEnvelope>): SupervisorEnvelope => ({
  outcome: 'ok',
  runMs: 1,
  cpuMs: 1,
  peakMemoryBytes: 1,
  outputBytes: 1,
  truncated: [],
  files: [],
  deleted: [],
  skipped: [],
  endedProcesses: 0,
  stateLost: null,
  ...fields,
})
const truncated = (what: string, reason: string, totalBytes = 0, keptBytes = 0): SupervisorEnvelope =>
  envelope({ truncated: [{ what, totalBytes, keptBytes, reason }] })

describe('the losses of a result', () => {
  it('are empty for an envelope without losses', () => expect(lostIn(envelope({}))).toEqual([]))

  it.each([
    ['stdout', 'max_output_bytes'],
    ['error', 'max_error_bytes'],
  ])('count the truncated bytes of %s', (what, reason) => {
    expect(lostIn(truncated(what, reason, 100, 60))).toEqual([{ what, reason: `Cut to 60 of 100 bytes: ${reason}` }])
  })

  it.each([
    ['files', 'too_many', /more files than a sandbox is searched for/],
    ['files', 'too_many_skipped', /More files were not collected than are named/],
    ['display', 'numbers_changed', /NaN and infinite numbers became null/],
    ['display', 'too_deep', /nested too deep/],
    ['display', 'too_many_keys', /too many keys/],
    ['display', 'not_json', /no JSON/],
  ])('report %s lost to %s without a byte count', (what, reason, words) => {
    expect(lostIn(truncated(what, reason))).toEqual([{ what, reason: expect.stringMatching(words) }])
    expect(lostIn(truncated(what, reason))[0]?.reason).not.toContain('bytes:')
  })

  it('count ended processes', () => {
    expect(lostIn(envelope({ endedProcesses: 3 }))).toEqual([{ what: 'processes', reason: expect.stringMatching(/ended \(3\): /) }])
  })

  it('name each skipped file, and the folder as a whole', () => {
    const skipped = [
      { path: 'a"b', reason: 'symlink' },
      { path: '.', reason: 'unreadable' },
    ]
    expect(lostIn(envelope({ skipped }))).toEqual([
      { what: 'file "a\\"b"', reason: 'Not collected: symlink' },
      { what: 'files', reason: 'Not collected: unreadable' },
    ])
  })
})
