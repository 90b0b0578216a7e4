import { setTimeout as pause } from 'node:timers/promises'
import { hashApiKey } from '../../../services/model/tenants/api-keys.ts'
import { isHibernated } from '../../../services/model/containers/container.ts'
import { createContainerStore } from '../../../services/adapters/storage/rows/container-store.ts'
import type { Items } from '../../../services/adapters/storage/rows/items.ts'
import { createTenantStore } from '../../../services/adapters/storage/rows/tenant-store.ts'

const POLL_MS = 50
const MAX_WAIT_MS = 60_000

/** Hibernated containers, read from the table: their status on the wire is still `running`. */
export interface SleepWatch {
  /** Waits until the container's variables are saved and its sandbox is released. */
  until(containerId: string): Promise<void>
}

export function createSleepWatch(items: Items, apiKey: string): SleepWatch {
  const containers = createContainerStore(items)
  return {
    async until(containerId) {
      const owner = await createTenantStore(items).findKey(hashApiKey(apiKey))
      if (owner === null) throw new Error('The server has no row for its own key.')
      const deadline = performance.now() + MAX_WAIT_MS
      for (;;) {
        const row = await containers.get(owner.tenant, containerId)
        if (row !== null && isHibernated(row) && row.sandboxId === null) return
        if (performance.now() > deadline) throw new Error(`The container does not sleep after ${MAX_WAIT_MS / 1000} s.`)
        await pause(POLL_MS)
      }
    },
  }
}
