import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { CHAOS_MUTANTS } from '../../chaos/mutants/mutants.ts'
import { DISABLED_PROTECTIONS } from '../../security/control/disabled-protections.ts'
import { MUTANTS } from '../../security/mutants/mutants.ts'

const ROOT = join(import.meta.dirname, '../../..')
const read = (file: string): string => readFileSync(join(ROOT, file), 'utf8')

/** Fails in seconds; the long suite would fail after minutes. */
it('every edit that removes a protection matches exactly one place in the source', () => {
  const edits = [...MUTANTS.flatMap(({ edits: own }) => own), ...DISABLED_PROTECTIONS, ...CHAOS_MUTANTS.map(({ edit }) => edit)]
  const misfits = edits.filter(({ file, find }) => read(file).split(find).length !== 2)
  expect(misfits).toEqual([])
  expect(edits.length).toBeGreaterThan(50)
})

it('every test that kills a mutant exists under its title', () => {
  const killers = MUTANTS.flatMap(({ killer }) => ('test' in killer ? [{ only: '', ...killer }] : []))
  // The title of a parametrised test holds the parameter between these words.
  const parameterOf = (only: string): string => only.replace(/^refuses (.*) with an exit code$/, '$1')
  expect(killers.filter(({ test, only }) => !read(test).includes(parameterOf(only)))).toEqual([])
})
