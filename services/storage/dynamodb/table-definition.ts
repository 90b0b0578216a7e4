/** `due` rows are spread over this many index partitions, because one partition takes 1,000 writes a second. */
export const DUE_SHARDS = 8

export interface IndexDefinition {
  readonly name: string
  readonly partitionKey: AttributeDefinition
  readonly sortKey: AttributeDefinition
  /** `ALL`, or the keys and these attributes. */
  readonly projection: 'ALL' | readonly string[]
}
export interface AttributeDefinition {
  readonly name: string
  readonly type: 'S' | 'N'
}

/**
 * The one table, as data: the local server and the deployment both make it from this.
 * `list` holds keys only, so that moving a row costs no index write; rows are read from the table. `due` is sparse: an ended row has
 * no `dueAt`. `pool` is sparse too: only sandboxes are in it, whole, so that finding a ready one is one call.
 */
export const tableDefinition = {
  partitionKey: { name: 'pk', type: 'S' },
  sortKey: { name: 'sk', type: 'S' },
  /** Epoch seconds. A hint to DynamoDB: conditions compare the row's own time as well. */
  timeToLiveAttribute: 'ttl',
  indexes: [
    { name: 'list', partitionKey: { name: 'lpk', type: 'S' }, sortKey: { name: 'lsk', type: 'S' }, projection: ['name'] },
    { name: 'due', partitionKey: { name: 'dueShard', type: 'S' }, sortKey: { name: 'dueAt', type: 'N' }, projection: [] },
    { name: 'pool', partitionKey: { name: 'poolPk', type: 'S' }, sortKey: { name: 'poolSk', type: 'S' }, projection: 'ALL' },
  ],
} as const satisfies {
  readonly partitionKey: AttributeDefinition
  readonly sortKey: AttributeDefinition
  readonly timeToLiveAttribute: string
  readonly indexes: readonly IndexDefinition[]
}
