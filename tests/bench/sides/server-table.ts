import { join } from 'node:path'
import { createControlClient } from '../../../scripts/cli/control-client.ts'
import { chooseLocalServer, listLocalServers } from '../../../scripts/cli/local-servers.ts'
import type { Items } from '../../../services/adapters/storage/rows/items.ts'

const NOTES = join(import.meta.dirname, '../../../.cellblock/servers')

/** The rows of the server under test, for what the API does not show. */
export async function openServerTable(serverUrl: string): Promise<Items> {
  const server = chooseLocalServer(await listLocalServers(NOTES), Number(new URL(serverUrl).port))
  return createControlClient(server.controlSocket).items
}
