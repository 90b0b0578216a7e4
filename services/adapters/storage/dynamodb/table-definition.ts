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
 * The DynamoDB table as data, for the deployment and the emulators in tests. `list` projects keys only, so that a row change costs no index
 * write; rows are read from the table. `due` is sparse: an ended row has no `dueAt`. `pool` has whole sandbox rows, so that finding a
 * ready sandbox is one request.
 */
export const tableDefinition = {
  partitionKey: { name: 'pk', type: 'S' },
  sortKey: { name: 'sk', type: 'S' },
  /** Epoch seconds. A hint to DynamoDB: conditions compare the row's own time as well. */
  timeToLiveAttribute: 'ttl',
  indexes: [
    { name: 'list', partitionKey: { name: 'lpk', type: 'S' }, sortKey: { name: 'lsk', type: 'S' }, projection: ['name'] },
    { name: 'due', partitionKey: { name: 'dueShard', type: 'S' }, sortKey: { name: 'dueAt', type: 'N' }, projection: [] },
    // The rows of a tenant, for its export and its deletion.
    { name: 'tenant', partitionKey: { name: 'tenantShard', type: 'S' }, sortKey: { name: 'pk', type: 'S' }, projection: [] },
    { name: 'pool', partitionKey: { name: 'poolPk', type: 'S' }, sortKey: { name: 'poolSk', type: 'S' }, projection: 'ALL' },
  ],
} as const satisfies {
  readonly partitionKey: AttributeDefinition
  readonly sortKey: AttributeDefinition
  readonly timeToLiveAttribute: string
  readonly indexes: readonly IndexDefinition[]
}
