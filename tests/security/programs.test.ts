import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { startArena, type Arena, type Verdict } from './arena/arena.ts'
import { runPrograms } from './arena/run-programs.ts'
import { FAMILIES, PROGRAMS } from './corpus/registry.ts'

/** The subset here; all of them run in `npm run test:security`. */
const quick = PROGRAMS.filter(({ isQuick }) => isQuick)

let arena: Arena
let verdicts: readonly Verdict[]
beforeAll(async () => {
  arena = await startArena({ image: inject('sandboxImage') })
  verdicts = await runPrograms(arena, quick)
}, 180_000)
afterAll(() => arena.stop())

describe('the corpus of hostile programs', () => {
  it('has at least 14 families and 300 programs, three at most of a mechanism, each with its own name', () => {
    expect(FAMILIES.length).toBeGreaterThanOrEqual(14)
    expect(PROGRAMS.length).toBeGreaterThanOrEqual(300)
    expect(new Set(PROGRAMS.map(({ id }) => id)).size).toBe(PROGRAMS.length)
    const uses = Map.groupBy(PROGRAMS, ({ mechanism }) => mechanism)
    expect([...uses].filter(([, programs]) => programs.length > 3).map(([mechanism]) => mechanism)).toEqual([])
  })

  it.each(quick.map(({ id, mechanism }) => [id, mechanism]))('%s (%s) gets nowhere and is told as what it is', (id) => {
    const verdict = verdicts.find(({ program }) => program.id === id)
    expect(verdict?.faults).toEqual([])
    expect(verdict?.isTyped, JSON.stringify(verdict?.outcome).slice(0, 2_000)).toBe(true)
  })

  it('touches no tripwire: no packet, no question for a name, no file and no secret of the host', async () => {
    expect(await arena.hits()).toEqual([])
  })
})
