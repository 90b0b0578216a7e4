// Bundled like a function, then started with an address. Calls the storage there and prints its answers.
import { createDynamoClient } from '../../services/adapters/storage/dynamodb/dynamo-client.ts'
import { createDynamoItems } from '../../services/adapters/storage/dynamodb/dynamo-items.ts'
import { absent } from '../../services/adapters/storage/rows/expression.ts'
import { createLazyS3ObjectStore } from '../../services/adapters/storage/s3/lazy-s3-object-store.ts'

const options = {
  region: 'eu-central-1',
  endpoint: process.argv[2] ?? '',
  credentials: { accessKeyId: 'test', secretAccessKey: 'test' },
  isEmulated: true,
}
const objects = createLazyS3ObjectStore({ ...options, bucket: 'bucket' })
const items = createDynamoItems(createDynamoClient(options), 'table')
const row = await items.get({ pk: 'a', sk: 'b' })
const isPut = await items.put({ pk: 'a', sk: 'b' }, absent('pk'))
console.log(JSON.stringify({ missing: await objects.get('missing'), deleted: await objects.deletePrefix('folder/'), row, isPut }))
process.exit(0)
