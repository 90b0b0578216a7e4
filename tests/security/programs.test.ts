import { isUtf8 } from 'node:buffer'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { MINIMAL_ENVIRONMENT, startHarness, type Harness, type Verdict } from './harness/harness.ts'
import { runPrograms } from './harness/run-programs.ts'
import { names } from '../../scripts/hostile-programs/names.ts'
import { DISTINCT, FAMILIES, MECHANISMS, PROGRAMS } from './corpus/registry.ts'
import { CLOSED_CHANNELS, measureNeighbours } from './cross-tenant/covert-channels.ts'
import { runCrossTenantAttacks } from './cross-tenant/cross-tenant.ts'
import { NAUGHTY_NAMES } from './naughty-names.ts'
import { PRECONDITIONS } from './preconditions.ts'
import { PROPERTIES } from './properties.ts'

/** Control and direction characters, separators, endings that some systems drop, and reserved names. */
const UNSAFE_TO_SHOW = /[\p{Cc}\u200b\u202a-\u202e\u2066-\u2069\ufeff\\/]|[. ]$|^(con|prn|aux|nul|(com|lpt)\d)(\.|$)/iu
/** The path of an object: tenant, container, kind and a random key, nothing chosen by user code. */
const OBJECT_KEY = /^tenants\/[\w-]+\/cntr_\w+\/files\/[\w-]{32}$/

/** `npm run test:security` runs the cross-tenant attacks for longer. */
const CROSS_TENANT_SECONDS = 2

/** The subset of each family, and the first program of each property. `npm run test:security` runs all programs. */
const shows = new Set(
  [PROPERTIES, PRECONDITIONS].flatMap((areas) => Object.values(areas).flatMap((area) => Object.values(area).flatMap(([id]) => id ?? []))),
)
const selected = PROGRAMS.filter(({ id, isQuick }) => isQuick || shows.has(id) || id.startsWith('names/'))

let harness: Harness
const verdicts = new Map<string, Verdict>()
beforeAll(async () => {
  harness = await startHarness({ image: inject('sandboxImage'), env: () => MINIMAL_ENVIRONMENT })
  await runPrograms(harness, selected, (verdict) => verdicts.set(verdict.program.id, verdict), true)
}, 480_000)
afterAll(() => harness.stop())

/** Of the programs that show a property, those that ran here: at least one. */
function expectShown(ids: readonly string[]): void {
  const ran = ids.filter((id) => verdicts.has(id))
  expect(ran).not.toEqual([])
  ran.forEach(expectHeld)
}

function expectHeld(id: string): void {
  const verdict = verdicts.get(id)
  expect(verdict?.failures, id).toEqual([])
  expect(verdict?.isTyped, `${id}: ${JSON.stringify(verdict?.outcome).slice(0, 2_000)}`).toBe(true)
}

describe('the corpus of hostile programs', () => {
  it('has at least 300 distinct programs in 14 families, counting at most three per mechanism', () => {
    expect(new Set(PROGRAMS.map(({ id }) => id)).size).toBe(PROGRAMS.length)
    expect(new Set(PROGRAMS.map(({ code }) => code.trim())).size).toBe(PROGRAMS.length)
    const uses = Map.groupBy(DISTINCT, ({ mechanism }) => mechanism)
    expect([...uses.values()].filter((programs) => programs.length > 3)).toEqual([])
    expect(DISTINCT.size).toBeGreaterThanOrEqual(300)
    expect(FAMILIES.filter(({ programs }) => programs.some((program) => DISTINCT.has(program))).length).toBeGreaterThanOrEqual(14)
  })

  it('has more than 300 mechanisms', () => expect(MECHANISMS.size).toBeGreaterThan(300))

  it('names each mechanism once, whatever its arguments', () => {
    const labels = [...MECHANISMS.keys()]
    expect(labels.filter((label) => label.trim() !== label || label === '')).toEqual([])
    expect(new Set(labels.map((label) => label.toLowerCase().replace(/\(\d\)/, ''))).size).toBe(labels.length)
  })

  it.each(selected.map(({ id, mechanism }) => [id, mechanism]))(
    '%s (%s) has no effect outside the sandbox and ends with the expected status',
    (id) => expectHeld(id),
  )

  it('touches no tripwire: no packet, DNS query, file or secret of the host', async () => {
    expect(await harness.hits()).toEqual([])
  })
})

/** The key that a signed link of the embedded store names. */
function objectKeyOf(url: string): string {
  const payload = /^\/objects\/([\w-]+)\.[\w-]+$/.exec(new URL(url).pathname)?.[1] ?? ''
  return (JSON.parse(Buffer.from(payload, 'base64url').toString('utf8')) as { readonly key: string }).key
}

describe('file names', () => {
  it('stores each file under a random key with a displayable name, or reports it as refused', async () => {
    const container = await harness.attacker.createContainer()
    const names = JSON.stringify(NAUGHTY_NAMES.map(({ name }) => name.toString('hex')))
    const execution = await harness.attacker.run(
      container,
      `import json\nfor n, name in enumerate(json.loads(${JSON.stringify(names)})): open(b"/mnt/data/" + bytes.fromhex(name), "w").write(f"content {n}")`,
    )
    expect(execution).toMatchObject({ status: 'succeeded', error: null })
    // A name that is not UTF-8 decodes like another name; such files are never collected.
    const readable = NAUGHTY_NAMES.map(({ name }, index) => ({ name, index })).filter(({ name }) => isUtf8(name))
    // Of names that are equal in form C, the first keeps its name and the others get a hash behind it.
    const contents = Map.groupBy(readable, ({ name }) => name.toString().normalize('NFC'))
    const contentsOf = (name: string): readonly string[] =>
      (contents.get(name) ?? contents.get(name.replace(/-[0-9a-f]{8}(\.[^.]*)?$/, '$1')) ?? []).map(({ index }) => `content ${index}`)
    for (const { path, url } of execution.files) {
      const name = path.slice('/mnt/data/'.length)
      expect(name).not.toMatch(UNSAFE_TO_SHOW)
      expect(name.normalize('NFC')).toBe(name)
      expect(objectKeyOf(url)).toMatch(OBJECT_KEY)
      const response = await fetch(url)
      expect(contentsOf(name), name).toContain(await response.text())
      expect(response.headers.get('content-disposition')).toMatch(/^attachment; filename="[ -~]*"; filename\*=UTF-8''[\w.~%!-]*$/)
    }
    expect(execution.files.length).toBeGreaterThan(100)
    const refused = execution.lost.filter(({ what, reason }) => what.startsWith('file ') && !reason.startsWith('It is kept as '))
    expect(execution.files.length + refused.length).toBe(NAUGHTY_NAMES.length)
  }, 120_000)

  it('covers more than 400 hostile file names', () => expect(NAUGHTY_NAMES.length).toBeGreaterThan(400))
})

describe('two tenants with live sandboxes', () => {
  it('read no byte of each other or of an earlier sandbox', async () => {
    const { attempts, foreignBytes, failures } = await runCrossTenantAttacks(harness.server, CROSS_TENANT_SECONDS)
    expect(failures).toEqual([])
    expect(foreignBytes).toBe(0)
    expect(attempts).toBeGreaterThan(20)
  }, 120_000)
})

describe('the neighbour of a hostile tenant', () => {
  it('receives no data through counters of the kernel, and works while the other tenant exhausts shared resources', async () => {
    const { figures, failures } = await measureNeighbours(harness.server, CLOSED_CHANNELS)
    expect(failures).toEqual([])
    expect(figures.map(({ bitsPerSecond }) => bitsPerSecond)).toEqual(figures.map(() => 0))
    expect(figures.length).toBeGreaterThanOrEqual(10)
  }, 300_000)
})

describe('name resolution', () => {
  it('is attempted by sixteen programs', () => expect(names.programs).toHaveLength(16))

  it.each(names.programs.map(({ id }) => id))('%s reaches no resolver', (id) => expectHeld(id))
})

describe('the preconditions of published escapes', () => {
  it('number 18: 4, 8 and 6 by layer', () =>
    expect(Object.values(PRECONDITIONS).map((layer) => Object.keys(layer).length)).toEqual([4, 8, 6]))

  describe.each(Object.entries(PRECONDITIONS))('of the %s layer', (_layer, needs) => {
    it.each(Object.entries(needs))('%s: absent', (_name, ids) => expectShown(ids))
  })
})

describe('the SandboxEval properties', () => {
  it('number 86: 19, 19, 21 and 27 by area', () =>
    expect(Object.values(PROPERTIES).map((area) => Object.keys(area).length)).toEqual([19, 19, 21, 27]))

  describe.each(Object.entries(PROPERTIES))('area %s', (_area, properties) => {
    it.each(Object.entries(properties))('%s', (_name, ids) => expectShown(ids))
  })
})
