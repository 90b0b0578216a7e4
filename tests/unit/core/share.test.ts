import { expect, it } from 'vitest'
import { admitsShare, shareOf } from '../../../services/model/tenants/share.ts'

it.for([
  ['a tenant alone, below half', { held: 49, heldByTenant: 49, capacity: 100 }, true],
  ['a tenant alone, at half', { held: 50, heldByTenant: 50, capacity: 100 }, false],
  ['a tenant below its quarter of a pool that is more than half full', { held: 99, heldByTenant: 24, capacity: 100 }, true],
  ['a tenant at its quarter of a pool that is half full', { held: 50, heldByTenant: 25, capacity: 100 }, false],
  ['a tenant without places, in a full pool', { held: 100, heldByTenant: 0, capacity: 100 }, false],
  ['the only place', { held: 0, heldByTenant: 0, capacity: 1 }, true],
  ['a second tenant in a pool of two', { held: 1, heldByTenant: 0, capacity: 2 }, true],
  ['a second place of a tenant in a pool of two', { held: 1, heldByTenant: 1, capacity: 2 }, false],
] as const)('decides about %s', ([, use, isAdmitted]) => {
  expect(admitsShare(use)).toBe(isAdmitted)
})

it('leaves places for other tenants while two take what they can', () => {
  const capacity = 100
  const held = { a: 0, b: 0, c: 0 }
  const take = (tenant: keyof typeof held): void => {
    const use = { held: held.a + held.b + held.c, heldByTenant: held[tenant], capacity }
    if (admitsShare(use)) held[tenant] += 1
  }
  for (let n = 0; n < capacity; n++) take('a')
  for (let n = 0; n < capacity; n++) take('b')
  expect(held).toEqual({ a: 50, b: 25, c: 0 })
  for (let n = 0; n < capacity; n++) take('c')
  expect(held.c).toBe(shareOf(capacity))
})
