import type { Queue } from '../../ports/queue.ts'

/** Enqueues the next step of a turn. If sending fails, the reconciler sends the message later. */
export async function notifyResponse(
  queue: Queue,
  { tenant, id: responseId }: { readonly tenant: string; readonly id: string },
  delaySeconds = 0,
): Promise<void> {
  await queue.send('turns', { v: 1, type: 'response.step', tenant, responseId }, { group: tenant, delaySeconds }).catch(() => undefined)
}
