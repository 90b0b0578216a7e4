import type { ApiClient } from '../bench/sides/api-client.ts'

/** Requests per second: ten times the limit of the tenant. */
const RATE = 500
const TICK_MS = 20
/** Requests that wait for an answer; a tick sends none beyond this. */
const MAX_OPEN = 64
const BUSY = 'import time; time.sleep(0.2)'
const CONTAINERS = 5

/** One tenant submits code and lists containers, and ignores every refusal. `stop` returns the number of answers by status; 0 is a lost connection. */
export async function startFlood(client: ApiClient, container: string): Promise<{ stop(): Promise<ReadonlyMap<number, number>> }> {
  const containers = [container, ...(await Promise.all(Array.from({ length: CONTAINERS - 1 }, () => client.createContainer())))]
  const statuses = new Map<number, number>()
  const open = new Set<Promise<void>>()
  let sent = 0

  async function send(n: number): Promise<void> {
    const id = containers[n % containers.length] ?? container
    const status = await (
      n % 2 === 0 ? client.status('POST', `/v1/containers/${id}/executions?wait=0`, { code: BUSY }) : client.status('GET', '/v1/containers')
    ).catch(() => 0)
    statuses.set(status, (statuses.get(status) ?? 0) + 1)
  }

  const timer = setInterval(() => {
    for (let n = 0; n < (RATE * TICK_MS) / 1000 && open.size < MAX_OPEN; n++) {
      const one: Promise<void> = send((sent += 1)).finally(() => open.delete(one))
      open.add(one)
    }
  }, TICK_MS)
  return {
    async stop() {
      clearInterval(timer)
      await Promise.all(open)
      return statuses
    },
  }
}
