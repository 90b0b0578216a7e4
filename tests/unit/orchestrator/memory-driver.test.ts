import { setTimeout as delay } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { MemoryDriver, type MemorySandbox } from '../../../services/adapters/drivers/memory/memory-driver.ts'
import { newSpec, sandboxDriverContract } from '../../contract/sandbox-driver.ts'

const stopped: string[] = []
const driver = new MemoryDriver({
  image: 'any',
  launch: async ({ sandboxId }): Promise<MemorySandbox> => {
    await delay(20)
    return { address: { kind: 'unix', socketPath: `/tmp/${sandboxId}` }, stop: async () => void stopped.push(sandboxId) }
  },
})

sandboxDriverContract('memory', () => driver)

it('reports a launch that failed as gone, with its reason', async () => {
  const failing = new MemoryDriver({ image: 'any', launch: () => Promise.reject(new Error('No memory is left')) })
  const spec = newSpec()
  await failing.start(spec, AbortSignal.timeout(5_000))
  const status = await failing.waitReady(spec.sandboxId, AbortSignal.timeout(5_000))
  expect(status).toMatchObject({ phase: 'gone', detail: 'No memory is left' })
})

it('stops a sandbox whose launch ends after its stop', async () => {
  const spec = newSpec()
  await driver.start(spec, AbortSignal.timeout(5_000))
  await driver.stop(spec.sandboxId)
  await expect.poll(() => stopped).toContain(spec.sandboxId)
})
