import { tableDefinition } from '../../../services/adapters/storage/dynamodb/table-definition.ts'
import {
  all,
  at,
  first,
  isAbsent,
  list,
  named,
  only,
  same,
  says,
  set,
  statements,
  value,
  type Property,
  type Statement,
} from '../property.ts'
import type { Resource, Templates } from '../synthesise.ts'

const table = (t: Templates): Resource => only(t, 'AWS::DynamoDB::Table')
const objects = (t: Templates): Resource => named(t, 'data', 'Objects', 'AWS::S3::Bucket')
const objectsPolicy = (t: Templates): Resource => named(t, 'data', 'ObjectsPolicy', 'AWS::S3::BucketPolicy')
const key = (t: Templates): Resource => only(t, 'AWS::KMS::Key')
const secret = (t: Templates): Resource => named(t, 'data', 'ModelKeys', 'AWS::SecretsManager::Secret')
const queues = (t: Templates): Resource[] => all(t, 'AWS::SQS::Queue')
const working = (t: Templates): Resource[] => queues(t).filter((queue) => queue.Properties.RedrivePolicy !== undefined)
const dead = (t: Templates): Resource[] => queues(t).filter((queue) => queue.Properties.RedrivePolicy === undefined)
const BLOCKS = { BlockPublicAcls: true, BlockPublicPolicy: true, IgnorePublicAcls: true, RestrictPublicBuckets: true }
const denies = (policy: Resource, test: (s: Statement) => boolean): boolean =>
  statements(at(policy, 'Properties.PolicyDocument')).some((s) => s.Effect === 'Deny' && same(s.Principal, { AWS: '*' }) && test(s))
const CREATED_BEFORE_TABLE = ['AWS::KMS::Key', 'AWS::S3::Bucket', 'AWS::SQS::Queue', 'AWS::SecretsManager::Secret']
const isKept = (resource: Resource): boolean =>
  resource.DeletionPolicy === 'RetainExceptOnCreate' && resource.UpdateReplacePolicy === 'Retain'
const kept = (title: string, find: (t: Templates) => Resource): Property => ({
  title,
  holds: (t) => isKept(find(t)),
  break: (t) => set(find(t), 'DeletionPolicy', 'Delete'),
})
const everyBucket = (title: string, holds: (bucket: Resource) => boolean, path: string, wrong: unknown): Property => ({
  title,
  holds: (t) => all(t, 'AWS::S3::Bucket').length === 3 && all(t, 'AWS::S3::Bucket').every(holds),
  break: (t) => set(objects(t), path, wrong),
})
/** The mutant loses every statement with this condition. */
const without = (find: (t: Templates) => Resource, condition: string) => (t: Templates) =>
  set(
    find(t),
    'Properties.PolicyDocument.Statement',
    statements(at(find(t), 'Properties.PolicyDocument')).filter((s) => !says(s.Condition ?? {}, condition)),
  )

export const dataProperties: readonly Property[] = [
  value(
    'the table can be restored to any second of the last weeks',
    table,
    'Properties.PointInTimeRecoverySpecification',
    { PointInTimeRecoveryEnabled: true, RecoveryPeriodInDays: 35 },
    { PointInTimeRecoveryEnabled: false },
  ),
  {
    title: 'the table is encrypted with our key',
    holds: (t) =>
      at(table(t), 'Properties.SSESpecification.SSEEnabled') === true &&
      at(table(t), 'Properties.SSESpecification.SSEType') === 'KMS' &&
      says(at(table(t), 'Properties.SSESpecification.KMSMasterKeyId'), 'Key'),
    break: (t) => set(table(t), 'Properties.SSESpecification', undefined),
  },
  value('the table cannot be deleted by mistake', table, 'Properties.DeletionProtectionEnabled', true, false),
  value('the table is paid by request, so nothing when idle', table, 'Properties.BillingMode', 'PAY_PER_REQUEST', 'PROVISIONED'),
  {
    title: 'keys and indexes are those of the local server',
    holds: (t) =>
      same(at(table(t), 'Properties.KeySchema'), [
        { AttributeName: tableDefinition.partitionKey.name, KeyType: 'HASH' },
        { AttributeName: tableDefinition.sortKey.name, KeyType: 'RANGE' },
      ]) &&
      same(
        list(table(t).Properties.GlobalSecondaryIndexes).map((i) => [
          at(i, 'IndexName'),
          at(i, 'KeySchema.0.AttributeName'),
          at(i, 'KeySchema.1.AttributeName'),
        ]),
        tableDefinition.indexes.map((i) => [i.name, i.partitionKey.name, i.sortKey.name]),
      ) &&
      same(at(table(t), 'Properties.TimeToLiveSpecification'), { AttributeName: tableDefinition.timeToLiveAttribute, Enabled: true }),
    break: (t) => set(table(t), 'Properties.GlobalSecondaryIndexes.0.IndexName', 'other'),
  },
  {
    title: 'a failed first deployment deletes everything: the table, which deletion protection keeps, is created last',
    holds: (t) =>
      same(
        Object.entries(t.data.Resources)
          .filter(([id, { Type }]) => CREATED_BEFORE_TABLE.includes(Type) && !list(at(table(t), 'DependsOn')).includes(id))
          .map(([id]) => id),
        [],
      ),
    break: (t) => set(table(t), 'DependsOn', []),
  },
  kept('the table outlives its stack', table),
  kept('the objects outlive their stack', objects),
  kept('the key outlives its stack', key),
  kept("the models' keys outlive their stack", secret),
  value('the key is renewed every year', key, 'Properties.EnableKeyRotation', true, false),
  {
    title: 'only this account uses the key',
    holds: (t) =>
      statements(at(key(t), 'Properties.KeyPolicy')).every((s) => says(s.Principal, ':root') && says(s.Principal, 'AWS::AccountId')),
    break: (t) => set(first(statements(at(key(t), 'Properties.KeyPolicy'))), 'Principal', { AWS: '*' }),
  },
  everyBucket(
    'no bucket is public in any of four ways',
    (b) => same(b.Properties.PublicAccessBlockConfiguration, BLOCKS),
    'Properties.PublicAccessBlockConfiguration.BlockPublicPolicy',
    false,
  ),
  everyBucket(
    'no bucket has access lists',
    (b) => says(b.Properties.OwnershipControls, 'BucketOwnerEnforced'),
    'Properties.OwnershipControls',
    undefined,
  ),
  everyBucket(
    'every bucket is encrypted',
    (b) => says(b.Properties.BucketEncryption, 'SSEAlgorithm'),
    'Properties.BucketEncryption',
    undefined,
  ),
  {
    title: 'objects are encrypted with our key',
    holds: (t) =>
      says(objects(t).Properties.BucketEncryption, '"aws:kms"') && says(objects(t).Properties.BucketEncryption, 'KMSMasterKeyID'),
    break: (t) =>
      set(objects(t), 'Properties.BucketEncryption', {
        ServerSideEncryptionConfiguration: [{ ServerSideEncryptionByDefault: { SSEAlgorithm: 'AES256' } }],
      }),
  },
  {
    title: 'every bucket is read over TLS only',
    holds: (t) =>
      all(t, 'AWS::S3::BucketPolicy').length === 3 &&
      all(t, 'AWS::S3::BucketPolicy').every((p) =>
        denies(p, (s) => s.Action === 's3:*' && same(s.Condition, { Bool: { 'aws:SecureTransport': 'false' } })),
      ),
    break: without(objectsPolicy, 'aws:SecureTransport'),
  },
  {
    title: 'every bucket wants TLS 1.2 or newer',
    holds: (t) =>
      all(t, 'AWS::S3::BucketPolicy').every((p) => denies(p, (s) => same(s.Condition, { NumericLessThan: { 's3:TlsVersion': 1.2 } }))),
    break: without(objectsPolicy, 's3:TlsVersion'),
  },
  {
    title: 'a signature older than five minutes opens no object',
    holds: (t) =>
      denies(objectsPolicy(t), (s) => s.Action === 's3:*' && Number(s.Condition?.NumericGreaterThan?.['s3:signatureAge']) <= 300_000),
    break: without(objectsPolicy, 's3:signatureAge'),
  },
  value('who reads an object is logged', objects, 'Properties.LoggingConfiguration.LogFilePrefix', 'objects/', undefined),
  {
    title: 'uploads that were given up are cleared away',
    holds: (t) => says(objects(t).Properties.LifecycleConfiguration, '"AbortIncompleteMultipartUpload":{"DaysAfterInitiation":1}'),
    break: (t) => set(objects(t), 'Properties.LifecycleConfiguration', undefined),
  },
  {
    title: 'a deleted object is gone: no older version is kept',
    holds: (t) => isAbsent(objects(t).Properties.VersioningConfiguration) && isAbsent(objects(t).Properties.ReplicationConfiguration),
    break: (t) => set(objects(t), 'Properties.VersioningConfiguration', { Status: 'Enabled' }),
  },
  {
    title: 'only pages of distributions read and upload objects by links',
    holds: (t) =>
      same(objects(t).Properties.CorsConfiguration, {
        CorsRules: [
          {
            // An upload link signs the first two.
            AllowedHeaders: ['content-type', 'if-none-match', 'range'],
            AllowedMethods: ['GET', 'PUT'],
            AllowedOrigins: ['https://*.cloudfront.net'],
            MaxAge: 3600,
          },
        ],
      }),
    break: (t) => set(objects(t), 'Properties.CorsConfiguration.CorsRules.0.AllowedOrigins', ['*']),
  },
  {
    title: 'messages are encrypted at rest',
    holds: (t) => queues(t).length === 6 && queues(t).every((queue) => queue.Properties.SqsManagedSseEnabled === true),
    break: (t) => set(first(queues(t)), 'Properties.SqsManagedSseEnabled', false),
  },
  {
    title: 'messages travel over TLS only',
    holds: (t) =>
      all(t, 'AWS::SQS::QueuePolicy').length === 6 &&
      all(t, 'AWS::SQS::QueuePolicy').every((p) => denies(p, (s) => same(s.Condition, { Bool: { 'aws:SecureTransport': 'false' } }))),
    break: (t) => set(first(all(t, 'AWS::SQS::QueuePolicy')), 'Properties.PolicyDocument.Statement', []),
  },
  {
    title: 'no queue lets another account in',
    holds: (t) =>
      all(t, 'AWS::SQS::QueuePolicy').every((p) => statements(at(p, 'Properties.PolicyDocument')).every((s) => s.Effect === 'Deny')),
    break: (t) => set(first(statements(at(first(all(t, 'AWS::SQS::QueuePolicy')), 'Properties.PolicyDocument'))), 'Effect', 'Allow'),
  },
  {
    title: 'a message that failed five times goes to the dead letters',
    holds: (t) =>
      working(t).length === 3 &&
      working(t).every(
        (queue) =>
          at(queue, 'Properties.RedrivePolicy.maxReceiveCount') === 5 &&
          says(at(queue, 'Properties.RedrivePolicy.deadLetterTargetArn'), 'Dead'),
      ),
    break: (t) => set(first(working(t)), 'Properties.RedrivePolicy.maxReceiveCount', 1_000),
  },
  {
    title: 'dead letters come from their own queue only, and wait fourteen days',
    holds: (t) =>
      dead(t).length === 3 &&
      dead(t).every(
        (queue) =>
          at(queue, 'Properties.RedriveAllowPolicy.redrivePermission') === 'byQueue' &&
          queue.Properties.MessageRetentionPeriod === 1_209_600,
      ),
    break: (t) => set(first(dead(t)), 'Properties.RedriveAllowPolicy', undefined),
  },
  {
    title: 'queues are standard ones, so that they can be fair',
    holds: (t) => queues(t).every((queue) => isAbsent(queue.Properties.FifoQueue)),
    break: (t) => set(first(queues(t)), 'Properties.FifoQueue', true),
  },
  value('no model key is in a template', secret, 'Properties.SecretString', '{}', '{"openai":"sk-live"}'),
  {
    title: "the models' keys are encrypted with our key",
    holds: (t) => says(secret(t).Properties.KmsKeyId, 'Key'),
    break: (t) => set(secret(t), 'Properties.KmsKeyId', undefined),
  },
]
