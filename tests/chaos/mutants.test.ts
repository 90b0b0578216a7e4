import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { CHAOS_MUTANTS } from './mutants/mutants.ts'
import { SCENARIOS } from './scenarios/registry.ts'

const ROOT = join(import.meta.dirname, '..', '..')

describe.each(CHAOS_MUTANTS)('mutant "$what"', ({ edit, scenario }) => {
  it('matches exactly one place in the source and names an existing scenario', async () => {
    const text = await readFile(join(ROOT, edit.file), 'utf8')
    expect(text.split(edit.find)).toHaveLength(2)
    expect(SCENARIOS.map(({ name }) => name)).toContain(scenario)
  })
})
