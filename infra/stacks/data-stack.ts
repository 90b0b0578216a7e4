import { CfnOutput, CfnResource, RemovalPolicy, type StackProps } from 'aws-cdk-lib'
import { Table, type CfnTable, type ITable } from 'aws-cdk-lib/aws-dynamodb'
import type { IKey } from 'aws-cdk-lib/aws-kms'
import { CfnBucket, type IBucket } from 'aws-cdk-lib/aws-s3'
import type { Secret } from 'aws-cdk-lib/aws-secretsmanager'
import type { Construct } from 'constructs'
import type { QueueName } from '../../services/model/messages.ts'
import { queueDefinitions } from '../../services/adapters/storage/sqs/queue-definitions.ts'
import type { Config } from '../config.ts'
import { createAccessLogBucket } from '../constructs/access-log-bucket.ts'
import { createEncryptionKey } from '../constructs/encryption-key.ts'
import { JobQueue } from '../constructs/job-queue.ts'
import { JobTable } from '../constructs/job-table.ts'
import { createModelsSecret, createNetworkKeys, modelsSecretName } from '../constructs/models-secret.ts'
import { ObjectBucket } from '../constructs/object-bucket.ts'
import { FlaggedStack } from './flagged-stack.ts'

export interface DataStackProps extends StackProps {
  readonly config: Config
  /** Encrypts all tenant data. Without one the stack creates a key. */
  readonly encryptionKey: IKey | undefined
  /** Makes CloudFormation delete the data with the stack. */
  readonly removesData: boolean
}

/**
 * Everything that outlives a deployment. Deleting the stack retains table, objects, logs, key and model keys; queues hold hints only and go. A
 * failed first deployment leaves nothing behind (`RetainExceptOnCreate`), so that names are free for the next attempt.
 */
export class DataStack extends FlaggedStack {
  readonly key: IKey
  /** The table of this stack, or a restored table. */
  readonly table: ITable
  readonly bucket: IBucket
  readonly accessLogs: IBucket
  readonly queues: Readonly<Record<QueueName, JobQueue>>
  readonly modelsSecret: Secret
  readonly modelsSecretName: string
  /** Null without a network gateway. */
  readonly networkKeys: Secret | null

  constructor(scope: Construct, id: string, { config, encryptionKey, removesData, ...props }: DataStackProps) {
    super(scope, id, props)
    this.key = encryptionKey ?? createEncryptionKey(this, config.stage)
    const table = new JobTable(this, 'Table', { key: this.key, backupDays: config.retention.backupDays }).table
    this.table = this.tableInUse(table, config.data.tableName)
    this.accessLogs = createAccessLogBucket(this, config.retention.logDays)
    this.bucket = new ObjectBucket(this, 'Objects', {
      key: this.key,
      accessLogs: this.accessLogs,
      pageOrigins: pageOrigins(config.api),
    }).bucket
    const queues = Object.values(queueDefinitions).map((definition) => [
      definition.name,
      new JobQueue(this, `${definition.name}-queue`, { stage: config.stage, definition }),
    ])
    this.queues = Object.fromEntries(queues) as Record<QueueName, JobQueue>
    this.modelsSecretName = modelsSecretName(config)
    this.modelsSecret = createModelsSecret(this, this.modelsSecretName, this.key)
    this.networkKeys = config.network.gateway ? createNetworkKeys(this, this.key) : null
    // Last, because its deletion protection would block the roll-back of a failed first deployment.
    table.node.addDependency(this.key, this.accessLogs, this.bucket, this.modelsSecret, ...Object.values(this.queues))
    const outputs = { TableName: this.table.tableName, ObjectBucket: this.bucket.bucketName, AccessLogBucket: this.accessLogs.bucketName }
    for (const [name, value] of Object.entries(outputs)) new CfnOutput(this, name, { value })
    if (removesData) this.makeDataRemovable(table)
  }

  private tableInUse(own: Table, restored: string | undefined): ITable {
    if (restored === undefined) return own as ITable
    // The other stacks import these until they are deployed with the restored table, and an export that is imported cannot go.
    for (const value of [own.tableArn, own.tableName]) this.exportValue(value)
    return Table.fromTableAttributes(this, 'RestoredTable', { tableName: restored, encryptionKey: this.key, grantIndexPermissions: true })
  }

  private makeDataRemovable(own: Table): void {
    for (const child of this.node.findAll()) if (child instanceof CfnResource) child.applyRemovalPolicy(RemovalPolicy.DESTROY)
    const table = own.node.defaultChild as CfnTable
    table.deletionProtectionEnabled = false
    // S3 delivers access logs hours later. A bucket that is logged no more writes no log about its removal, which would fill the other.
    for (const child of this.node.findAll()) if (child instanceof CfnBucket) child.loggingConfiguration = undefined
  }
}

/**
 * Where the service's page and the pages of the settings are served. Without a custom domain the name of the distribution is generated, and it is made
 * after this stack, so the rule names all distributions: a signed link is still needed.
 */
function pageOrigins({ corsOrigins, customDomain, privateIngress }: Config['api']): readonly string[] {
  const host = privateIngress?.host ?? customDomain?.name ?? '*.cloudfront.net'
  return [`https://${host}`, ...corsOrigins]
}
