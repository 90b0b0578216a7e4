import { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { join } from 'node:path'
import { chooseLocalServer, listLocalServers } from '../../../services/cli/local-servers.ts'
import { createDynamoItems } from '../../../services/storage/dynamodb/dynamo-items.ts'
import type { Items } from '../../../services/storage/rows/items.ts'

const NOTES = join(import.meta.dirname, '../../../.cellblock/servers')

/** The table of the server under test, for what the API does not show. */
export async function openServerTable(serverUrl: string): Promise<Items> {
  const server = chooseLocalServer(await listLocalServers(NOTES), Number(new URL(serverUrl).port))
  const credentials = { accessKeyId: 'local', secretAccessKey: 'local' }
  return createDynamoItems(new DynamoDBClient({ endpoint: server.dynamodbEndpoint, region: 'us-east-1', credentials }), server.tableName)
}
