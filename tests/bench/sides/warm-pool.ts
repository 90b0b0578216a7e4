import { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { setTimeout as pause } from 'node:timers/promises'
import { join } from 'node:path'
import { chooseLocalServer, listLocalServers } from '../../../services/cli/local-servers.ts'
import { createItems } from '../../../services/storage/dynamodb/items.ts'
import { createSandboxStore } from '../../../services/storage/dynamodb/sandbox-store.ts'

const NOTES = join(import.meta.dirname, '../../../.cellblock/servers')
const POLL_MS = 50
const MAX_WAIT_MS = 120_000

/** The pool of the server under test, read from its table: the API does not show it. */
export interface WarmPool {
  /** Ids of sandboxes that wait for a container. */
  ready(): Promise<readonly string[]>
  /** Waits until that many are ready, so that what is measured next does not share the processor with a refill. */
  waitFor(count: number): Promise<readonly string[]>
}

export async function openWarmPool(serverUrl: string): Promise<WarmPool> {
  const server = chooseLocalServer(await listLocalServers(NOTES), Number(new URL(serverUrl).port))
  const credentials = { accessKeyId: 'local', secretAccessKey: 'local' }
  const client = new DynamoDBClient({ endpoint: server.dynamodbEndpoint, region: 'us-east-1', credentials })
  const sandboxes = createSandboxStore(createItems(client, server.tableName))
  const ready = async (): Promise<readonly string[]> => (await sandboxes.ready('1g', 50)).map(({ id }) => id)
  return {
    ready,
    async waitFor(count) {
      const until = performance.now() + MAX_WAIT_MS
      for (;;) {
        const ids = await ready()
        if (ids.length >= count) return ids
        if (performance.now() > until)
          throw new Error(`The pool has ${ids.length} warm sandboxes, not ${count}, after ${MAX_WAIT_MS / 1000} s.`)
        await pause(POLL_MS)
      }
    },
  }
}
