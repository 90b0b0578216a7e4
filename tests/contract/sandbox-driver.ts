import { afterAll, describe, expect, it } from 'vitest'
import { newSandbox } from '../../services/operations/sandboxes/new-sandbox.ts'
import type { SandboxDriver, SandboxSpec } from '../../services/ports/sandbox-driver.ts'

/** The argument of `start`, and the private key for requests to the sandbox. */
export function newSpec(): SandboxSpec & { readonly privateKey: string } {
  const { id, memoryTier, publicKey, privateKey } = newSandbox({ memoryTier: '1g', image: 'any', claimedBy: null }, Date.now())
  return { sandboxId: id, memoryTier, publicKey, isAwaited: false, privateKey }
}

export const idsOf = async (driver: SandboxDriver): Promise<string[]> => {
  const ids: string[] = []
  for await (const id of driver.list()) ids.push(id)
  return ids
}

/** An id created a day ago, so that no platform can still be about to list it. */
export const OLD_UNKNOWN_ID = 'sbx_01hzzzzzzzzzzzzzzzzzzzzzzz'

const soon = (): AbortSignal => AbortSignal.timeout(55_000)

/** The contract of every driver, against the real platform or a scripted one. */
export function sandboxDriverContract(name: string, driver: () => SandboxDriver): void {
  describe(`SandboxDriver: ${name}`, () => {
    afterAll(async () => {
      for (const id of await idsOf(driver())) await driver().stop(id)
    })

    it('passes its check', async () => {
      await expect(driver().check()).resolves.toBeUndefined()
    })

    it('reports the capabilities of its profile', () => {
      expect(driver().capabilities.startMs).toBeGreaterThanOrEqual(0)
      expect(driver().capabilities.addressKinds).not.toEqual([])
    })

    it('starts one sandbox for a job delivered twice, then reports it as ready and lists it', async () => {
      const wanted = newSpec()
      await Promise.all([driver().start(wanted, soon()), driver().start(wanted, soon())])
      await driver().start(wanted, soon())
      const status = await driver().waitReady(wanted.sandboxId, soon())
      expect(status).toMatchObject({ phase: 'ready', address: expect.objectContaining({ kind: expect.any(String) }) })
      expect(await driver().inspect(wanted.sandboxId)).toEqual(status)
      expect(await driver().inspectAll([{ id: OLD_UNKNOWN_ID }, { id: wanted.sandboxId }])).toEqual([
        expect.objectContaining({ phase: 'gone' }),
        status,
      ])
      expect(driver().capabilities.addressKinds).toContain(status.phase === 'ready' && status.address.kind)
      expect((await idsOf(driver())).filter((id) => id === wanted.sandboxId)).toHaveLength(1)
      await driver().stop(wanted.sandboxId)
    })

    it('stops a sandbox permanently, however often stop is called', async () => {
      const wanted = newSpec()
      await driver().start(wanted, soon())
      await Promise.all([driver().stop(wanted.sandboxId), driver().stop(wanted.sandboxId)])
      await driver().stop(wanted.sandboxId)
      expect(await driver().inspect(wanted.sandboxId)).toMatchObject({ phase: 'gone' })
      expect(await driver().waitReady(wanted.sandboxId, soon())).toMatchObject({ phase: 'gone' })
      expect(await idsOf(driver())).not.toContain(wanted.sandboxId)
    })

    it('reports a lost sandbox to a waiting caller', async () => {
      const wanted = newSpec()
      await driver().start(wanted, soon())
      const waiting = driver().waitReady(wanted.sandboxId, soon())
      await driver().stop(wanted.sandboxId)
      expect((await waiting).phase).toBe('gone')
    })

    it('returns the last known status when the signal ends the wait', async () => {
      const wanted = newSpec()
      await driver().start(wanted, soon())
      const stop = new AbortController()
      const waiting = driver().waitReady(wanted.sandboxId, stop.signal)
      stop.abort()
      expect((await waiting).phase).toBe('starting')
      await driver().stop(wanted.sandboxId)
    })

    it('starts nothing when the signal is already aborted', async () => {
      const wanted = newSpec()
      await expect(driver().start(wanted, AbortSignal.abort(new Error('left')))).rejects.toThrow('left')
      expect(await idsOf(driver())).not.toContain(wanted.sandboxId)
    })

    it('reports an unknown sandbox as gone and stops it without an error', async () => {
      expect(await driver().inspect(OLD_UNKNOWN_ID)).toMatchObject({ phase: 'gone', exitCode: null })
      await expect(driver().stop(OLD_UNKNOWN_ID)).resolves.toBeUndefined()
    })
  })
}
