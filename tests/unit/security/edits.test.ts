import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { CHAOS_MUTANTS } from '../../chaos/mutants/mutants.ts'
import { DISABLED_PROTECTIONS } from '../../security/control/disabled-protections.ts'
import { MUTANTS } from '../../security/mutants/mutants.ts'

const ROOT = join(import.meta.dirname, '../../..')

/** The long suite would find out after minutes. */
it('every edit that takes a protection out still fits the source, in one place', () => {
  const edits = [...MUTANTS.flatMap(({ edits: own }) => own), ...DISABLED_PROTECTIONS, ...CHAOS_MUTANTS.map(({ edit }) => edit)]
  const misfits = edits.filter(({ file, find }) => readFileSync(join(ROOT, file), 'utf8').split(find).length !== 2)
  expect(misfits).toEqual([])
  expect(edits.length).toBeGreaterThan(50)
})
