import { RemovalPolicy } from 'aws-cdk-lib'
import {
  AttributeType,
  BillingMode,
  ProjectionType,
  Table,
  TableEncryption,
  type Attribute,
  type GlobalSecondaryIndexProps,
} from 'aws-cdk-lib/aws-dynamodb'
import type { IKey } from 'aws-cdk-lib/aws-kms'
import { Construct } from 'constructs'
import {
  tableDefinition,
  type AttributeDefinition,
  type IndexDefinition,
} from '../../services/adapters/storage/dynamodb/table-definition.ts'

export interface JobTableProps {
  readonly key: IKey
  readonly backupDays: number
}

/** The table, from the definition that the local server also uses. CloudFormation retains it when it deletes the stack. */
export class JobTable extends Construct {
  readonly table: Table

  constructor(scope: Construct, id: string, { key, backupDays }: JobTableProps) {
    super(scope, id)
    this.table = new Table(this, 'Resource', {
      partitionKey: attribute(tableDefinition.partitionKey),
      sortKey: attribute(tableDefinition.sortKey),
      timeToLiveAttribute: tableDefinition.timeToLiveAttribute,
      billingMode: BillingMode.PAY_PER_REQUEST,
      encryption: TableEncryption.CUSTOMER_MANAGED,
      encryptionKey: key,
      pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: true, recoveryPeriodInDays: backupDays },
      deletionProtection: true,
      removalPolicy: RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE,
    })
    for (const index of tableDefinition.indexes) this.table.addGlobalSecondaryIndex(secondaryIndex(index))
  }
}

const attribute = ({ name, type }: AttributeDefinition): Attribute => ({ name, type: AttributeType[type === 'S' ? 'STRING' : 'NUMBER'] })

const secondaryIndex = (index: IndexDefinition): GlobalSecondaryIndexProps => ({
  indexName: index.name,
  partitionKey: attribute(index.partitionKey),
  sortKey: attribute(index.sortKey),
  ...toProjection(index.projection),
})

function toProjection(wanted: IndexDefinition['projection']): Pick<GlobalSecondaryIndexProps, 'projectionType' | 'nonKeyAttributes'> {
  if (wanted === 'ALL') return { projectionType: ProjectionType.ALL }
  return wanted.length === 0
    ? { projectionType: ProjectionType.KEYS_ONLY }
    : { projectionType: ProjectionType.INCLUDE, nonKeyAttributes: [...wanted] }
}
