import { describe, expect, it } from 'vitest'
import { newId } from '../../services/model/ids.ts'
import type { ExecutionStepMessage } from '../../services/model/messages.ts'
import type { Queue } from '../../services/ports/queue.ts'

export const executionMessage = (): ExecutionStepMessage => ({
  v: 1,
  type: 'execution.step',
  tenant: newId('tenant'),
  executionId: newId('execution'),
  containerId: newId('container'),
})

/** The contract of every Queue. `received` returns the messages that have arrived in a queue so far, as parsed JSON. */
export function queueContract(
  name: string,
  queue: () => Queue,
  received: (name: 'turns' | 'executions' | 'placements') => Promise<readonly unknown[]>,
): void {
  describe(`Queue: ${name}`, () => {
    it('delivers a message to its queue only', async () => {
      const turn = { v: 1, type: 'response.step', tenant: 'tnt_1', responseId: newId('response') } as const
      const execution = executionMessage()
      const refill = { v: 1, type: 'sandbox.refill' } as const
      await queue().send('turns', turn, { group: 'tnt_1' })
      await queue().send('executions', execution, { group: 'tnt_1' })
      await queue().send('placements', refill, { group: '_pool' })
      await expect.poll(() => received('turns')).toEqual([turn])
      await expect.poll(() => received('executions')).toEqual([execution])
      await expect.poll(() => received('placements')).toEqual([refill])
    })

    it('delays a message for the given time', async () => {
      const [late, soon] = [executionMessage(), executionMessage()]
      const sentAt = Date.now()
      await queue().send('executions', late, { group: late.tenant, delaySeconds: 1 })
      await queue().send('executions', soon, { group: soon.tenant })
      await expect.poll(() => received('executions')).toContainEqual(soon)
      expect(await received('executions')).not.toContainEqual(late)
      await expect.poll(() => received('executions'), { timeout: 10_000 }).toContainEqual(late)
      expect(Date.now() - sentAt).toBeGreaterThanOrEqual(990)
    })

    it('passes its check', async () => {
      await expect(queue().check()).resolves.toBeUndefined()
    })
  })
}
