import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import type { Sandbox } from '../../../services/core/sandboxes/sandbox.ts'
import { executionsSuite } from '../../e2e/executions.ts'
import { upgradeCellSeconds } from '../config.ts'
import type { Stage } from '../support/stage.ts'

const run = promisify(execFile)

/** Runs until there is that file, which somebody from outside makes, and shows that it never stopped meanwhile. */
const untilThereIs = (file: string): string => `import os, time
n = 0
while not os.path.exists("${file}"):
    print(n, flush=True)
    n += 1
    time.sleep(1)
print(kept)`

/** The next version over live data, and the way back. */
export function upgradeScene(stage: () => Stage): void {
  describe('an upgrade in place, over live data', () => {
    const NEXT = { warm: 1, imageTag: 'next' }
    let oldImage: string
    let isBack = false

    let cell: { readonly id: string; readonly sandbox: Sandbox; readonly end: string; readonly began: number; readonly fence: number }

    it('is deployed while a cell runs', { timeout: 420_000 }, async () => {
      const { native } = stage().acme
      await native.run(stage().session, 'kept = "from before"')
      const end = `/tmp/end-${Date.now()}`
      const { id } = await native.run(stage().session, { code: untilThereIs(end), timeout_seconds: 900 }, 0)
      await stage().isRunning(id)
      const began = Date.now()
      const sandbox = await stage().sandboxOf(stage().session)
      oldImage = sandbox.image
      await stage().account.deploy(NEXT)
      cell = { id, sandbox, end, began, fence: (await stage().rowOf(id)).fence }
      expect((await stage().rowOf(id)).status).toBe('running')
    })

    // The suite of the local server, on the version that has just been deployed, while the cell goes on.
    executionsSuite(() => ({ native: stage().acme.native, open: stage().account.open }))

    it(
      'leaves that cell alone, which outlives the whole deployment: the next version reads on and ends it',
      { timeout: 420_000 },
      async () => {
        const { id, sandbox, end, began, fence } = cell
        // Every function that was there before has let go of it.
        await expect.poll(async () => (await stage().rowOf(id)).fence, { timeout: 150_000, interval: 500 }).toBeGreaterThan(fence)
        const leastMs = upgradeCellSeconds * 1000
        await expect.poll(() => Date.now() - began, { timeout: leastMs + 10_000, interval: 1_000 }).toBeGreaterThanOrEqual(leastMs)
        await run('docker', ['exec', await stage().engineContainer(sandbox), 'touch', end])
        const ended = await stage().acme.native.ended(id)
        const lines = ended.stdout.trim().split('\n')
        expect([ended.status, lines.at(-1)]).toEqual(['succeeded', 'from before'])
        expect(lines.slice(0, -1)).toEqual(lines.slice(0, -1).map((_, index) => String(index)))
        expect((await stage().sandboxOf(stage().session)).id).toBe(sandbox.id)
        console.log(`The cell ran ${Math.round((Date.now() - began) / 1000)} s, through the deployment of the next version.`)
      },
    )

    it('fills the pool with the new image and claims that', { timeout: 240_000 }, async () => {
      // One that does not answer in time on a busy machine is passed over, as it should be: then the next is tried.
      const howItCame = async (): Promise<'claimed' | 'started'> => {
        await expect.poll(async () => (await stage().warm()).length, { timeout: 120_000, interval: 1_000 }).toBeGreaterThan(0)
        const waiting = (await stage().warm()).map(({ id }) => id)
        const fresh = await stage().acme.native.createContainer('warm')
        expect((await stage().acme.native.run(fresh, 'print("claimed")')).stdout).toBe('claimed\n')
        const { id, image } = await stage().sandboxOf(fresh)
        expect(image).toMatch(/:next$/)
        return waiting.includes(id) ? 'claimed' : 'started'
      }
      await expect.poll(howItCame, { timeout: 200_000 }).toBe('claimed')
    })

    it('starts a sandbox for whoever finds the pool empty', { timeout: 240_000 }, async () => {
      const takers = await Promise.all(['one', 'two', 'three'].map((name) => stage().acme.native.createContainer(name)))
      const ran = await Promise.all(takers.map((container) => stage().acme.native.run(container, 'print("mine")')))
      expect(ran.map(({ stdout }) => stdout)).toEqual(['mine\n', 'mine\n', 'mine\n'])
      expect(new Set((await Promise.all(takers.map((container) => stage().sandboxOf(container)))).map(({ id }) => id)).size).toBe(3)
    })

    it('goes back as well: what the newer version has warm is never claimed, and drained', { timeout: 420_000 }, async () => {
      const { native } = stage().acme
      if (isBack) await stage().account.deploy(NEXT)
      await expect.poll(async () => (await stage().warm()).map(({ image }) => image), { timeout: 120_000, interval: 1_000 }).toHaveLength(1)
      const [pooled] = await stage().warm()
      expect(pooled?.image).toMatch(/:next$/)
      const task = await stage().engineContainer(pooled as Sandbox)
      await stage().account.deploy({ warm: 0 })
      isBack = true
      const fresh = await native.createContainer('back')
      expect((await native.run(fresh, 'print("back")')).stdout).toBe('back\n')
      expect((await stage().sandboxOf(fresh)).image).toBe(oldImage)
      expect(
        (
          await stage()
            .account.table()
            .sandboxes.get(pooled?.id ?? '')
        )?.claimedBy ?? null,
      ).toBeNull()
      const isLeft = async (): Promise<boolean> => {
        await stage().account.reconcile()
        return (await stage().account.ministack.tasks()).includes(task)
      }
      await expect.poll(isLeft, { timeout: 120_000, interval: 2_000 }).toBe(false)
      expect((await native.run(stage().session, 'print(kept)')).stdout).toBe('from before\n')
    })
  })
}
