import type { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import type { ObjectStore } from '../../../ports/object-store.ts'
import type { Table } from '../../../ports/table.ts'
import { createTable } from '../rows/table.ts'
import { createDynamoItems } from './dynamo-items.ts'

/** All durable state in one DynamoDB table. */
export const createDynamoTable = (options: {
  readonly client: DynamoDBClient
  readonly tableName: string
  readonly objects: ObjectStore
}): Table => createTable(createDynamoItems(options.client, options.tableName), options.objects)
