import { expect, it } from 'vitest'
import { OutputAssembler } from '../../../services/model/executions/output-assembler.ts'
import type { SupervisorEnvelope } from '../../../services/ports/supervisor.ts'
import { resultOf } from '../../../services/workers/run/step/result-of.ts'
import { containerRow, executionRow, T0 } from '../../support/rows.ts'

const kept = (envelope: Pick<SupervisorEnvelope, 'files' | 'deleted'>): unknown => {
  const whole = { runMs: 1, cpuMs: 1, peakMemoryBytes: 1, outputBytes: 0, ...envelope } as SupervisorEnvelope
  const deps = { clock: { now: () => T0 }, costPerSecond: () => 0 }
  return resultOf(deps, {
    row: executionRow(),
    container: containerRow(),
    assembler: new OutputAssembler([0]),
    envelope: whole,
    files: [],
    lost: [],
  }).keptFiles
}
const file = { path: 'a.csv', bytes: 1, sha256: 'x' } as SupervisorEnvelope['files'][number]

it.each([
  [{ files: [], deleted: [] }, true],
  [{ files: [file], deleted: [] }, undefined],
  [{ files: [], deleted: ['a.csv'] }, undefined],
])('a result states whether the files are unchanged: %o', (envelope, expected) => {
  expect(kept(envelope)).toBe(expected)
})
