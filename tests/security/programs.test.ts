import { isUtf8 } from 'node:buffer'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { LIGHT, startArena, type Arena, type Verdict } from './arena/arena.ts'
import { runPrograms } from './arena/run-programs.ts'
import { names } from './corpus/names.ts'
import { DISTINCT, FAMILIES, MECHANISMS, PROGRAMS } from './corpus/registry.ts'
import { runNeighbours } from './neighbours/neighbours.ts'
import { NAUGHTY_NAMES } from './naughty-names.ts'
import { PRECONDITIONS } from './preconditions.ts'
import { PROPERTIES } from './properties.ts'

/** Controls, directions, separators, ends that some systems drop and names that they reserve. */
const UNSAFE_TO_SHOW = /[\p{Cc}\p{Bidi_Control}\u200b-\u200d\ufeff\\/]|[. ]$|^(con|prn|aux|nul|(com|lpt)\d)(\.|$)/iu
/** Where an object lies: the tenant, the container, the kind, and nothing that user code chose. */
const OBJECT_PATH = /\/tenants\/[\w-]+\/cntr_\w+\/files\/[\w-]{32}$/

/** The long form of the neighbours runs in `npm run test:security`. */
const NEIGHBOUR_SECONDS = 2

/** The subset here, and what the properties need; all of them run in `npm run test:security`. */
const needed = new Set([PROPERTIES, PRECONDITIONS].flatMap((areas) => Object.values(areas).flatMap((area) => Object.values(area).flat())))
const wanted = PROGRAMS.filter(({ id, isQuick }) => isQuick || needed.has(id) || id.startsWith('names/'))

let arena: Arena
const verdicts = new Map<string, Verdict>()
beforeAll(async () => {
  arena = await startArena({ image: inject('sandboxImage'), env: () => LIGHT })
  await runPrograms(arena, wanted, (verdict) => verdicts.set(verdict.program.id, verdict), true)
}, 480_000)
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

describe('names of files', () => {
  it('are data: each is kept under a random key and comes back safe to show, or is told as refused', async () => {
    const container = await arena.mallory.createContainer()
    const names = JSON.stringify(NAUGHTY_NAMES.map(({ name }) => name.toString('hex')))
    const execution = await arena.mallory.run(
      container,
      `import json\nfor n, name in enumerate(json.loads(${JSON.stringify(names)})): open(b"/mnt/data/" + bytes.fromhex(name), "w").write(f"content {n}")`,
    )
    expect(execution).toMatchObject({ status: 'succeeded', error: null })
    // A name that is no UTF-8 reads like another one; it is never collected.
    const readable = NAUGHTY_NAMES.map(({ name }, index) => ({ name, index })).filter(({ name }) => isUtf8(name))
    const contents = new Map(readable.map(({ name, index }) => [name.toString(), `content ${index}`]))
    for (const { path, url } of execution.files) {
      const name = path.slice('/mnt/data/'.length)
      expect(name).not.toMatch(UNSAFE_TO_SHOW)
      expect(name.normalize('NFC')).toBe(name)
      expect(new URL(url).pathname).toMatch(OBJECT_PATH)
      const answer = await fetch(url)
      expect([name, await answer.text()]).toEqual([name, contents.get(name)])
      expect(answer.headers.get('content-disposition')).toMatch(/^attachment; filename="[ -~]*"; filename\*=UTF-8''[\w.~%!-]*$/)
    }
    expect(execution.files.length).toBeGreaterThan(100)
    const told = execution.lost.filter(({ what }) => what.startsWith('file '))
    expect(execution.files.length + told.length).toBe(NAUGHTY_NAMES.length)
  }, 120_000)

  it('are more than 400', () => expect(NAUGHTY_NAMES.length).toBeGreaterThan(400))
})

describe('two tenants with live sandboxes', () => {
  it('get not a byte of one another, nor of what an earlier sandbox left', async () => {
    const { attempts, foreignBytes, faults } = await runNeighbours(arena.server, NEIGHBOUR_SECONDS)
    expect(faults).toEqual([])
    expect(foreignBytes).toBe(0)
    expect(attempts).toBeGreaterThan(20)
  }, 120_000)
})

describe('the routes of name resolution', () => {
  it('are twelve or more', () => expect(names.programs.length).toBeGreaterThanOrEqual(12))

  it.each(names.programs.map(({ id }) => id))('%s finds nobody to ask', (id) => expectHeld(id))
})

describe('what published escapes need', () => {
  it('are 18 things', () => expect(Object.values(PRECONDITIONS).map((layer) => Object.keys(layer).length)).toEqual([4, 8, 6]))

  describe.each(Object.entries(PRECONDITIONS))('of the %s', (_layer, needs) => {
    it.each(Object.entries(needs))('%s is not there', (_name, ids) => {
      expect(ids.length).toBeGreaterThan(0)
      for (const id of ids) expectHeld(id)
    })
  })
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
