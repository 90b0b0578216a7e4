import { setTimeout as delay } from 'node:timers/promises'
import { ServiceError } from '../../model/errors.ts'
import { newId } from '../../model/ids.ts'
import type { AttachmentStore } from '../../ports/attachment-store.ts'
import type { Clock } from '../../ports/clock.ts'
import type { NetworkEnforcer } from '../../ports/network-gateway.ts'

/** A gateway that is being replaced is back within this time, milliseconds. */
const ANSWER_MS = 20_000
const FIRST_READ_MS = 100
const READ_MS = 150
/** A row is written again by each execution; one that nothing removed ends after this time. */
const KEPT_MS = 2 * 86_400_000

/**
 * The gateway of a deployment, which reads the same table: it accepts no connection, so a request to it is a row, and so is its answer. The rows have no
 * secret and no rule.
 */
export const createRemoteEnforcer = (attachments: AttachmentStore, clock: Clock): NetworkEnforcer => ({
  async enforce({ tenant, id: containerId }, { sandboxId }) {
    const now = clock.now()
    await attachments.request({ tenant, containerId, sandboxId, version: newId('event') }, now + KEPT_MS)
    await answerTo(attachments, containerId, clock)
  },
  release: (containerId) => attachments.remove(containerId),
})

/** Resolves when the gateway enforces what was requested, or what replaced that request. */
async function answerTo(attachments: AttachmentStore, containerId: string, clock: Clock): Promise<void> {
  const until = clock.now() + ANSWER_MS
  for (let waitMs = FIRST_READ_MS; clock.now() < until; waitMs = READ_MS) {
    await delay(waitMs)
    const row = await attachments.get(containerId)
    if (row === null) throw new Error('The network of the container was closed meanwhile. Run the code again.')
    if (row.served !== row.version) continue
    if (row.problem !== null) throw new Error(row.problem)
    return
  }
  throw new Error(`The network gateway did not answer within ${ANSWER_MS / 1_000} s. Run the code again.`)
}

/** The public key, PEM, with which secrets are sealed for the gateway. Throws ServiceError `not_ready` before its first start. */
export async function readSealingKey(attachments: AttachmentStore): Promise<string> {
  const key = (await attachments.leader())?.sealingKey ?? null
  if (key !== null) return key
  throw new ServiceError(
    'not_ready',
    'The network gateway has not started, so no secret can be stored. Try again in a minute. If it persists, the operator finds the reason in the log of the gateway.',
  )
}
