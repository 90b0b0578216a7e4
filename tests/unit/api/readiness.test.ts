import { expect, it } from 'vitest'
import { readinessOf } from '../../../services/entries/api/readiness.ts'

it('checks once for requests at the same time, and again for later ones', async () => {
  let checks = 0
  const readiness = readinessOf({ table: async () => void checks++ })
  const all = await Promise.all(Array.from({ length: 20 }, () => readiness()))
  expect(all.every(({ ok }) => ok)).toBe(true)
  expect(checks).toBe(1)
  await readiness()
  expect(checks).toBe(2)
})

it('names the part that fails, and is ready when it works again', async () => {
  let isBroken = true
  const store = async (): Promise<void> => {
    if (isBroken) throw new TypeError('with a detail that no client sees')
  }
  const readiness = readinessOf({ store, queue: async () => undefined })
  expect(await readiness()).toEqual({ ok: false, parts: { store: { ok: false, detail: 'TypeError' }, queue: { ok: true } } })
  isBroken = false
  expect((await readiness()).ok).toBe(true)
})
