import { afterAll, describe, expect, it } from 'vitest'
import { newSandbox } from '../../services/core/sandboxes/new-sandbox.ts'
import type { SandboxDriver, SandboxSpec } from '../../services/core/ports/sandbox-driver.ts'

/** What `start` takes, and the private half of the key for whoever wants to speak to the sandbox. */
export function newSpec(): SandboxSpec & { readonly privateKey: string } {
  const { id, memoryTier, publicKey, privateKey } = newSandbox({ memoryTier: '1g', image: 'any', claimedBy: null }, Date.now())
  return { sandboxId: id, memoryTier, publicKey, isAwaited: false, privateKey }
}

export const idsOf = async (driver: SandboxDriver): Promise<string[]> => {
  const ids: string[] = []
  for await (const id of driver.list()) ids.push(id)
  return ids
}

/** An id that was made a day ago, so that no platform can still be about to show it. */
export const OLD_UNKNOWN_ID = 'sbx_01hzzzzzzzzzzzzzzzzzzzzzzz'

const soon = (): AbortSignal => AbortSignal.timeout(55_000)

/** What every driver promises, against the real platform or a scripted one. */
export function sandboxDriverContract(name: string, driver: () => SandboxDriver): void {
  describe(`SandboxDriver: ${name}`, () => {
    afterAll(async () => {
      for (const id of await idsOf(driver())) await driver().stop(id)
    })

    it('says that it can start sandboxes', async () => {
      await expect(driver().check()).resolves.toBeUndefined()
    })

    it('has the methods of its capabilities', () => {
      expect(driver().resize !== undefined).toBe(driver().capabilities.resize)
      expect(driver().capabilities.startMs).toBeGreaterThanOrEqual(0)
    })

    it('starts one sandbox when a job is delivered twice, then shows it ready and finds it in its list', async () => {
      const wanted = newSpec()
      await Promise.all([driver().start(wanted, soon()), driver().start(wanted, soon())])
      await driver().start(wanted, soon())
      const sight = await driver().waitReady(wanted.sandboxId, soon())
      expect(sight).toMatchObject({ phase: 'ready', address: expect.objectContaining({ kind: expect.any(String) }) })
      expect(await driver().inspect(wanted.sandboxId)).toEqual(sight)
      expect(driver().capabilities.addressKinds).toContain(sight.phase === 'ready' && sight.address.kind)
      expect((await idsOf(driver())).filter((id) => id === wanted.sandboxId)).toHaveLength(1)
      await driver().stop(wanted.sandboxId)
    })

    it('stops a sandbox for good, as often as it is asked to', async () => {
      const wanted = newSpec()
      await driver().start(wanted, soon())
      await Promise.all([driver().stop(wanted.sandboxId), driver().stop(wanted.sandboxId)])
      await driver().stop(wanted.sandboxId)
      expect(await driver().inspect(wanted.sandboxId)).toMatchObject({ phase: 'gone' })
      expect(await driver().waitReady(wanted.sandboxId, soon())).toMatchObject({ phase: 'gone' })
      expect(await idsOf(driver())).not.toContain(wanted.sandboxId)
    })

    it('tells that a sandbox is gone while somebody waits for it', async () => {
      const wanted = newSpec()
      await driver().start(wanted, soon())
      const waiting = driver().waitReady(wanted.sandboxId, soon())
      await driver().stop(wanted.sandboxId)
      expect((await waiting).phase).toBe('gone')
    })

    it('says what it knows when the signal ends the wait', async () => {
      const wanted = newSpec()
      await driver().start(wanted, soon())
      const stop = new AbortController()
      const waiting = driver().waitReady(wanted.sandboxId, stop.signal)
      stop.abort()
      expect((await waiting).phase).toBe('starting')
      await driver().stop(wanted.sandboxId)
    })

    it('starts nothing for a caller who has left', async () => {
      const wanted = newSpec()
      await expect(driver().start(wanted, AbortSignal.abort(new Error('left')))).rejects.toThrow('left')
      expect(await idsOf(driver())).not.toContain(wanted.sandboxId)
    })

    it('calls a sandbox that never was gone, and stopping it no error', async () => {
      expect(await driver().inspect(OLD_UNKNOWN_ID)).toMatchObject({ phase: 'gone', exitCode: null })
      await expect(driver().stop(OLD_UNKNOWN_ID)).resolves.toBeUndefined()
    })
  })
}
