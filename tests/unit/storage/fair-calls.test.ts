import { setImmediate as nextPass } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { FairCalls } from '../../../services/adapters/storage/fairness/fair-calls.ts'
import { inTrace } from '../../../services/model/trace.ts'

/** A service whose calls end when `answer` is called. */
class ScriptedService {
  readonly begun: string[] = []
  readonly #open: (() => void)[] = []
  readonly #calls: FairCalls

  constructor(capacity: number) {
    this.#calls = new FairCalls(capacity)
  }

  call(owner: string): Promise<void> {
    const call = async (): Promise<void> => {
      this.begun.push(owner)
      await new Promise<void>((resolve) => this.#open.push(resolve))
    }
    return inTrace(null, () => this.#calls.during(call), owner)
  }

  /** The oldest calls end. */
  answer(count = 1): void {
    for (const end of this.#open.splice(0, count)) end()
  }

  of(owner: string): number {
    return this.begun.filter((one) => one === owner).length
  }
}

/** Longer than any pace: every pass allows one more call. */
async function passes(count: number): Promise<void> {
  for (let pass = 0; pass < count; pass++) await nextPass()
}

it('gives one owner half of the places, and another one a place at once', async () => {
  const service = new ScriptedService(16)
  for (let index = 0; index < 100; index++) void service.call('hostile')
  await passes(50)
  expect(service.of('hostile')).toBe(8)
  void service.call('other')
  await passes(1)
  expect(service.of('other')).toBe(1)
})

it('holds an owner to a quarter of the places beside others', async () => {
  const service = new ScriptedService(16)
  for (let index = 0; index < 100; index++) void service.call('hostile')
  await passes(50)
  for (let index = 0; index < 4; index++) void service.call('other')
  await passes(1)
  service.answer(6)
  await passes(50)
  // Two of its first eight calls, and what half of the pool has left beside the four of the other owner.
  expect(service.of('hostile') - 6).toBe(4)
})

it('lets an owner begin a burst beside another one, and more calls later, however soon they end', async () => {
  const calls = new FairCalls(1_000)
  const other = Promise.withResolvers<void>()
  const ofOther = inTrace(null, () => calls.during(() => other.promise), 'b')
  let begun = 0
  const call = async (): Promise<void> => void (begun += 1)
  const ended = Array.from({ length: 100 }, () => inTrace(null, () => calls.during(call), 'a'))
  for (let tick = 0; tick < 100; tick++) await Promise.resolve()
  expect(begun).toBe(8)
  await Promise.all(ended)
  expect(begun).toBe(100)
  other.resolve()
  await ofOther
})

it('has no pace for an owner without others', async () => {
  const calls = new FairCalls(1_000)
  let begun = 0
  const call = async (): Promise<void> => void (begun += 1)
  void Promise.all(Array.from({ length: 100 }, () => inTrace(null, () => calls.during(call), 'a')))
  for (let tick = 0; tick < 100; tick++) await Promise.resolve()
  expect(begun).toBe(100)
})

it('frees the place of a call that fails', async () => {
  const calls = new FairCalls(2)
  for (let index = 0; index < 20; index++)
    await expect(
      calls.during(async () => {
        throw new Error(`failed ${index}`)
      }),
    ).rejects.toThrow(`failed ${index}`)
})
