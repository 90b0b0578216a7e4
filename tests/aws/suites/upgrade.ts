import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import type { Sandbox } from '../../../services/model/sandboxes/sandbox.ts'
import { executionsSuite } from '../../e2e/executions.ts'
import { upgradeCellSeconds } from '../config.ts'
import type { DeploymentFixture } from '../support/deployment-fixture.ts'

const run = promisify(execFile)

/** Runs until the test creates that file, and prints a number per second to show that it did not stop. */
const waitForFile = (file: string): string => `import os, time
n = 0
while not os.path.exists("${file}"):
    print(n, flush=True)
    n += 1
    time.sleep(1)
print(kept)`

/** The next version over live data, and the way back. */
export function upgradeSuite(fixture: () => DeploymentFixture): void {
  describe('an upgrade in place, over live data', () => {
    const NEXT = { warm: 1, imageTag: 'next' }
    let oldImage: string
    let isBack = false

    let cell: { readonly id: string; readonly sandbox: Sandbox; readonly end: string; readonly began: number; readonly fence: number }

    it('is deployed while a cell runs', { timeout: 420_000 }, async () => {
      const { native } = fixture().acme
      await native.run(fixture().session, 'kept = "from before"')
      const end = `/tmp/end-${Date.now()}`
      const { id } = await native.run(fixture().session, { code: waitForFile(end), timeout_seconds: 900 }, 0)
      await fixture().isRunning(id)
      const began = Date.now()
      const sandbox = await fixture().sandboxOf(fixture().session)
      oldImage = sandbox.image
      expect(await fixture().account.deploy(NEXT)).toMatchObject({ adminKey: null })
      cell = { id, sandbox, end, began, fence: (await fixture().rowOf(id)).fence }
      expect((await fixture().rowOf(id)).status).toBe('running')
    })

    // The suite of the local server on the version that has just been deployed, while the cell runs.
    executionsSuite(() => ({ native: fixture().acme.native, open: fixture().account.open }))

    it('does not interrupt that cell: the next version continues its events and ends it', { timeout: 420_000 }, async () => {
      const { id, sandbox, end, began, fence } = cell
      // Every function of the old version has released the lease.
      await expect.poll(async () => (await fixture().rowOf(id)).fence, { timeout: 150_000, interval: 500 }).toBeGreaterThan(fence)
      const leastMs = upgradeCellSeconds * 1000
      await expect.poll(() => Date.now() - began, { timeout: leastMs + 10_000, interval: 1_000 }).toBeGreaterThanOrEqual(leastMs)
      await run('docker', ['exec', await fixture().engineContainer(sandbox), 'touch', end])
      const ended = await fixture().acme.native.ended(id)
      const lines = ended.stdout.trim().split('\n')
      expect([ended.status, lines.at(-1)]).toEqual(['succeeded', 'from before'])
      expect(lines.slice(0, -1)).toEqual(lines.slice(0, -1).map((_, index) => String(index)))
      expect((await fixture().sandboxOf(fixture().session)).id).toBe(sandbox.id)
      console.log(`The cell ran ${Math.round((Date.now() - began) / 1000)} s, through the deployment of the next version.`)
    })

    it('fills the pool with the new image and claims sandboxes of it', { timeout: 240_000 }, async () => {
      // One that does not answer in time on a busy machine is passed over, as it should be: then the next is tried.
      const howItCame = async (): Promise<'claimed' | 'started'> => {
        await expect.poll(async () => (await fixture().warm()).length, { timeout: 120_000, interval: 1_000 }).toBeGreaterThan(0)
        const waiting = (await fixture().warm()).map(({ id }) => id)
        const fresh = await fixture().acme.native.createContainer('warm')
        expect((await fixture().acme.native.run(fresh, 'print("claimed")')).stdout).toBe('claimed\n')
        const { id, image } = await fixture().sandboxOf(fresh)
        expect(image).toMatch(/:next$/)
        return waiting.includes(id) ? 'claimed' : 'started'
      }
      await expect.poll(howItCame, { timeout: 200_000 }).toBe('claimed')
    })

    it('starts sandboxes for claims that find the pool empty', { timeout: 240_000 }, async () => {
      const takers = await Promise.all(['one', 'two', 'three'].map((name) => fixture().acme.native.createContainer(name)))
      const ran = await Promise.all(takers.map((container) => fixture().acme.native.run(container, 'print("mine")')))
      expect(ran.map(({ stdout }) => stdout)).toEqual(['mine\n', 'mine\n', 'mine\n'])
      expect(new Set((await Promise.all(takers.map((container) => fixture().sandboxOf(container)))).map(({ id }) => id)).size).toBe(3)
    })

    it('supports a downgrade: warm sandboxes of the newer version are drained and never claimed', { timeout: 420_000 }, async () => {
      const { native } = fixture().acme
      if (isBack) await fixture().account.deploy(NEXT)
      await expect
        .poll(async () => (await fixture().warm()).map(({ image }) => image), { timeout: 120_000, interval: 1_000 })
        .toHaveLength(1)
      const [pooled] = await fixture().warm()
      expect(pooled?.image).toMatch(/:next$/)
      const task = await fixture().engineContainer(pooled as Sandbox)
      await fixture().account.deploy({ warm: 0 })
      isBack = true
      const fresh = await native.createContainer('back')
      expect((await native.run(fresh, 'print("back")')).stdout).toBe('back\n')
      expect((await fixture().sandboxOf(fresh)).image).toBe(oldImage)
      expect(
        (
          await fixture()
            .account.table()
            .sandboxes.get(pooled?.id ?? '')
        )?.claimedBy ?? null,
      ).toBeNull()
      const isLeft = async (): Promise<boolean> => {
        await fixture().account.reconcile()
        return (await fixture().account.ministack.tasks()).includes(task)
      }
      await expect.poll(isLeft, { timeout: 120_000, interval: 2_000 }).toBe(false)
      expect((await native.run(fixture().session, 'print(kept)')).stdout).toBe('from before\n')
    })
  })
}
