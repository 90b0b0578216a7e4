// Bundled like a function, then started with an address. Calls the storage there and prints its answers.
import { createStorageClients } from '../../services/storage/clients.ts'
import { createDynamoItems } from '../../services/storage/dynamodb/dynamo-items.ts'
import { absent } from '../../services/storage/rows/expression.ts'
import { createS3ObjectStore } from '../../services/storage/s3/s3-object-store.ts'

const endpoint = process.argv[2] ?? ''
const clients = createStorageClients({
  region: 'eu-central-1',
  endpoints: { dynamodb: endpoint, sqs: endpoint, s3: endpoint },
  credentials: { accessKeyId: 'test', secretAccessKey: 'test' },
})
const objects = createS3ObjectStore({ client: clients.s3, bucket: 'bucket' })
const items = createDynamoItems(clients.dynamodb, 'table')
const row = await items.get({ pk: 'a', sk: 'b' })
const isPut = await items.put({ pk: 'a', sk: 'b' }, absent('pk'))
console.log(JSON.stringify({ missing: await objects.get('missing'), deleted: await objects.deletePrefix('folder/'), row, isPut }))
process.exit(0)
