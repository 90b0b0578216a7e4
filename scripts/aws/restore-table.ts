import { setTimeout as delay } from 'node:timers/promises'
import {
  ContinuousBackupsUnavailableException,
  DescribeTableCommand,
  DynamoDBClient,
  RestoreTableToPointInTimeCommand,
  UpdateContinuousBackupsCommand,
  UpdateTableCommand,
  UpdateTimeToLiveCommand,
  waitUntilTableExists,
} from '@aws-sdk/client-dynamodb'
import { createStorageClients } from '../../services/adapters/storage/clients.ts'
import { createDynamoTable } from '../../services/adapters/storage/dynamodb/dynamo-table.ts'
import { tableDefinition } from '../../services/adapters/storage/dynamodb/table-definition.ts'
import { createS3ObjectStore } from '../../services/adapters/storage/s3/s3-object-store.ts'
import { SetupError } from '../setup/progress.ts'
import { findAccount, outputsOf } from './account.ts'
import type { Deployment } from './deployment.ts'

/** DynamoDB restores small tables in minutes and large ones in hours. */
const LONGEST_RESTORE_SECONDS = 12 * 3600
/** How long a new table may refuse backups, and the pause between two attempts, milliseconds. */
const BACKUPS_WAIT_MS = 10 * 60_000
const BACKUPS_PAUSE_MS = 10_000

export interface Restore {
  /** The time to restore to; null: the latest that DynamoDB can restore. */
  readonly at: Date | null
  /** Name of the new table. */
  readonly name: string
}

/**
 * Restores the table of a deployment to an earlier time, as a new table with the settings that DynamoDB does not restore: expiry of rows, backups,
 * protection from deletion. The rows of sandboxes are left out, because each of them has lived on since, maybe for another tenant. The service does not
 * use the table before `data.tableName` names it. Throws SetupError.
 */
export async function restoreTable(deployment: Deployment, { at, name }: Restore): Promise<void> {
  const { region } = await findAccount(deployment)
  const { sdk, progress } = deployment
  const outputs = await outputsOf(deployment, 'Data')
  const source = outputs?.['TableName']
  const bucket = outputs?.['ObjectBucket']
  if (source === undefined || bucket === undefined) throw new SetupError('There is no Data stack. Run npm run deploy, or check AWS_REGION.')
  const dynamodb = new DynamoDBClient(sdk)
  const { Table: table } = await dynamodb.send(new DescribeTableCommand({ TableName: source }))
  const key = table?.SSEDescription?.KMSMasterKeyArn
  progress(`restoring ${source} to ${at?.toISOString() ?? 'the latest time'} as ${name}`)
  await dynamodb
    .send(
      new RestoreTableToPointInTimeCommand({
        SourceTableName: source,
        TargetTableName: name,
        ...(at === null ? { UseLatestRestorableTime: true } : { RestoreDateTime: at }),
        ...(key === undefined ? {} : { SSESpecificationOverride: { Enabled: true, SSEType: 'KMS', KMSMasterKeyId: key } }),
      }),
    )
    .catch(async (error: unknown) => {
      if (await isThisRestore(dynamodb, { at, name }, { sourceArn: table?.TableArn, deployment }))
        return progress(`continuing with ${name}, which exists`)
      throw new SetupError(`${source} cannot be restored: ${error instanceof Error ? error.message : String(error)}`, { cause: error })
    })
  const wait = { client: dynamodb, maxWaitTime: LONGEST_RESTORE_SECONDS, minDelay: sdk.endpoint === undefined ? 20 : 1, maxDelay: 20 }
  await waitUntilTableExists(wait, { TableName: name })
  // First what keeps tenants apart, then what keeps the table.
  progress(`${await forgetSandboxes(deployment, { region, tableName: name, bucket })} rows of sandboxes removed from it`)
  progress('switching on protection from deletion, the expiry of rows and backups')
  await dynamodb.send(new UpdateTableCommand({ TableName: name, DeletionProtectionEnabled: true }))
  await dynamodb
    .send(
      new UpdateTimeToLiveCommand({
        TableName: name,
        TimeToLiveSpecification: { AttributeName: tableDefinition.timeToLiveAttribute, Enabled: true },
      }),
    )
    .catch((error: unknown) => {
      // An earlier call switched it on.
      if (!(error instanceof Error && /already enabled/i.test(error.message))) throw error
    })
  await enableBackups(dynamodb, name, deployment.config.retention.backupDays)
}

/** Whether an earlier call with the same name and time made the table, which the service does not use. */
async function isThisRestore(
  dynamodb: DynamoDBClient,
  { at, name }: Restore,
  { sourceArn, deployment: { config } }: { readonly sourceArn: string | undefined; readonly deployment: Deployment },
): Promise<boolean> {
  if (sourceArn === undefined || name === config.data.tableName) return false
  const found = await dynamodb.send(new DescribeTableCommand({ TableName: name })).catch(() => null)
  const { SourceTableArn, RestoreDateTime } = found?.Table?.RestoreSummary ?? {}
  return SourceTableArn === sourceArn && (at === null || RestoreDateTime?.getTime() === at.getTime())
}

/** DynamoDB refuses for some minutes, while it still enables backups for a new table. */
async function enableBackups(dynamodb: DynamoDBClient, name: string, days: number): Promise<void> {
  const recovery = { PointInTimeRecoveryEnabled: true, RecoveryPeriodInDays: days }
  for (const until = Date.now() + BACKUPS_WAIT_MS; ;)
    try {
      await dynamodb.send(new UpdateContinuousBackupsCommand({ TableName: name, PointInTimeRecoverySpecification: recovery }))
      return
    } catch (error) {
      if (!(error instanceof ContinuousBackupsUnavailableException) || Date.now() > until) throw error
      await delay(BACKUPS_PAUSE_MS)
    }
}

async function forgetSandboxes(
  { sdk }: Deployment,
  { region, tableName, bucket }: { readonly region: string; readonly tableName: string; readonly bucket: string },
): Promise<number> {
  const { endpoint, credentials } = sdk
  const clients = createStorageClients({
    region,
    ...(credentials === undefined ? {} : { credentials }),
    ...(endpoint === undefined ? {} : { endpoints: { dynamodb: endpoint, sqs: endpoint, s3: endpoint } }),
  })
  try {
    const objects = createS3ObjectStore({ client: clients.s3, bucket })
    const { sandboxes } = createDynamoTable({ client: clients.dynamodb, tableName, objects })
    const known = await sandboxes.all()
    for (const { id } of known) await sandboxes.remove(id)
    return known.length
  } finally {
    clients.close()
  }
}
