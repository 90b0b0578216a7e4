import { randomUUID } from 'node:crypto'
import { createStorageClients } from '../../services/adapters/storage/clients.ts'
import { createResources } from './create-resources.ts'
import { startEmulators } from './start-emulators.ts'

/**
 * A process with the emulators of an AWS account. It prints the environment of CELLBLOCK_STORAGE=aws as one line of JSON, and ends with its
 * parent. The name of the table is unique, because it labels the sandboxes of its server.
 */
const { region, credentials, endpoints, env: account } = await startEmulators((error) => console.error(error))
const clients = createStorageClients({ region, credentials, endpoints })
const { tableName, bucket, queueUrls } = await createResources(clients, `cellblock-${randomUUID()}`)
clients.close()
const env = {
  CELLBLOCK_STORAGE: 'aws',
  ...account,
  TABLE_NAME: tableName,
  BUCKET_NAME: bucket,
  TURNS_QUEUE_URL: queueUrls.turns,
  EXECUTIONS_QUEUE_URL: queueUrls.executions,
  PLACEMENTS_QUEUE_URL: queueUrls.placements,
}
process.stdout.write(`${JSON.stringify(env)}\n`)
process.on('disconnect', () => process.exit(0))
