import { describe, expect, it } from 'vitest'
import { dataProperties } from './properties/data.ts'
import { edgeProperties } from './properties/edge.ts'
import { functionProperties } from './properties/functions.ts'
import { networkProperties } from './properties/network.ts'
import { operationsProperties } from './properties/operations.ts'
import { sandboxProperties } from './properties/sandbox.ts'
import { synthesise } from './synthesise.ts'

const templates = synthesise({
  sandboxes: { tiers: { '1g': { warm: 2 }, '4g': { warm: 1 }, '16g': { warm: 0 }, '64g': { warm: 0 } }, architecture: 'X86_64' },
})
const SUBJECTS = {
  sandbox: sandboxProperties,
  network: networkProperties,
  data: dataProperties,
  functions: functionProperties,
  edge: edgeProperties,
  operations: operationsProperties,
}

describe.each(Object.entries(SUBJECTS))('%s', (_, properties) => {
  it.each(properties)('$title', (property) => {
    expect(property.holds(templates)).toBe(true)
    const mutant = structuredClone(templates)
    property.break(mutant)
    expect(property.holds(mutant), 'the check must notice the mutant').toBe(false)
  })
})

it('checks at least forty properties, each under a title of its own', () => {
  const titles = Object.values(SUBJECTS).flatMap((properties) => properties.map(({ title }) => title))
  expect(titles.length).toBeGreaterThanOrEqual(40)
  expect(new Set(titles).size).toBe(titles.length)
})
