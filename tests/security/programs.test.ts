import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { startArena, type Arena, type Verdict } from './arena/arena.ts'
import { runPrograms } from './arena/run-programs.ts'
import { names } from './corpus/names.ts'
import { DISTINCT, FAMILIES, MECHANISMS, PROGRAMS } from './corpus/registry.ts'
import { PROPERTIES } from './properties.ts'

/** The subset here, and what the properties need; all of them run in `npm run test:security`. */
const needed = new Set(Object.values(PROPERTIES).flatMap((area) => Object.values(area).flat()))
const wanted = PROGRAMS.filter(({ id, isQuick }) => isQuick || needed.has(id) || id.startsWith('names/'))

let arena: Arena
const verdicts = new Map<string, Verdict>()
beforeAll(async () => {
  arena = await startArena({ image: inject('sandboxImage') })
  await runPrograms(arena, wanted, (verdict) => verdicts.set(verdict.program.id, verdict), true)
}, 240_000)
afterAll(() => arena.stop())

function expectHeld(id: string): void {
  const verdict = verdicts.get(id)
  expect(verdict?.faults, id).toEqual([])
  expect(verdict?.isTyped, `${id}: ${JSON.stringify(verdict?.outcome).slice(0, 2_000)}`).toBe(true)
}

describe('the corpus of hostile programs', () => {
  it('has at least 300 programs in 14 families that count: three at most of a mechanism, each with its own name and code', () => {
    expect(new Set(PROGRAMS.map(({ id }) => id)).size).toBe(PROGRAMS.length)
    expect(new Set(PROGRAMS.map(({ code }) => code.trim())).size).toBe(PROGRAMS.length)
    const uses = Map.groupBy(DISTINCT, ({ mechanism }) => mechanism)
    expect([...uses.values()].filter((programs) => programs.length > 3)).toEqual([])
    expect(DISTINCT.size).toBeGreaterThanOrEqual(300)
    expect(FAMILIES.filter(({ programs }) => programs.some((program) => DISTINCT.has(program))).length).toBeGreaterThanOrEqual(14)
  })

  it('has more than 300 mechanisms, so that hardly any needs a second program', () => expect(MECHANISMS.size).toBeGreaterThan(300))

  it('names a mechanism by what is called, not by what it is called with', () => {
    const labels = [...MECHANISMS.keys()]
    expect(labels.filter((label) => label.trim() !== label || label === '')).toEqual([])
    expect(new Set(labels.map((label) => label.toLowerCase().replace(/\(\d\)/, ''))).size).toBe(labels.length)
  })

  it.each(wanted.map(({ id, mechanism }) => [id, mechanism]))('%s (%s) gets nowhere and is told as what it is', (id) => expectHeld(id))

  it('touches no tripwire: no packet, no question for a name, no file and no secret of the host', async () => {
    expect(await arena.hits()).toEqual([])
  })
})

describe('the routes of name resolution', () => {
  it('are twelve or more', () => expect(names.programs.length).toBeGreaterThanOrEqual(12))

  it.each(names.programs.map(({ id }) => id))('%s finds nobody to ask', (id) => expectHeld(id))
})

describe('the properties', () => {
  it('are 86', () => expect(Object.values(PROPERTIES).map((area) => Object.keys(area).length)).toEqual([19, 19, 21, 27]))

  describe.each(Object.entries(PROPERTIES))('of %s', (_area, properties) => {
    it.each(Object.entries(properties))('%s', (_name, ids) => {
      expect(ids.length).toBeGreaterThan(0)
      for (const id of ids) expectHeld(id)
    })
  })
})
