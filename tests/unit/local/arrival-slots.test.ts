import { expect, it } from 'vitest'
import { ArrivalSlots } from '../../../services/entries/local/arrival-slots.ts'

const isGranted = async (granted: Promise<void>): Promise<boolean> => {
  let value = false
  void granted.then(() => (value = true))
  await new Promise(setImmediate)
  return value
}

it('grants so many slots of a tenant, and the next one when one is released', async () => {
  const slots = new ArrivalSlots(2)
  const [first, second, third] = [slots.take('a'), slots.take('a'), slots.take('a')]
  expect(await isGranted(first.granted)).toBe(true)
  expect(await isGranted(second.granted)).toBe(true)
  expect(await isGranted(third.granted)).toBe(false)
  second.release()
  second.release()
  expect(await isGranted(third.granted)).toBe(true)
})

it('does not let one tenant wait for another', async () => {
  const slots = new ArrivalSlots(1)
  slots.take('a')
  expect(await isGranted(slots.take('b').granted)).toBe(true)
})

it('passes on the slot of a connection that closed while it waited', async () => {
  const slots = new ArrivalSlots(1)
  const [held, closed, waiting] = [slots.take('a'), slots.take('a'), slots.take('a')]
  closed.release()
  held.release()
  expect(await isGranted(waiting.granted)).toBe(true)
})
