import { Duration, RemovalPolicy } from 'aws-cdk-lib'
import { AnyPrincipal, Effect, PolicyStatement } from 'aws-cdk-lib/aws-iam'
import type { IKey } from 'aws-cdk-lib/aws-kms'
import { BlockPublicAccess, Bucket, BucketEncryption, HttpMethods, ObjectOwnership, type IBucket } from 'aws-cdk-lib/aws-s3'
import { Construct } from 'constructs'
import { LIMITS } from '../../services/model/limits.ts'

export interface ObjectBucketProps {
  readonly key: IKey
  readonly accessLogs: IBucket
  /** Origins of web pages that read and upload objects by signed links, the service's own page among them. */
  readonly pageOrigins: readonly string[]
}

/** Headers that a browser announces: those that an upload link signs, and that of a partial read. */
const PAGE_HEADERS = ['content-type', 'if-none-match', 'range']

/**
 * Files, outputs and snapshots of all tenants. Without versioning, so that a delete is final. No lifecycle rule expires `tenants/`: the
 * reconciler deletes an object when its container has expired.
 */
export class ObjectBucket extends Construct {
  readonly bucket: IBucket

  constructor(scope: Construct, id: string, { key, accessLogs, pageOrigins }: ObjectBucketProps) {
    super(scope, id)
    const bucket = new Bucket(this, 'Resource', {
      encryption: BucketEncryption.KMS,
      encryptionKey: key,
      bucketKeyEnabled: true,
      blockPublicAccess: BlockPublicAccess.BLOCK_ALL,
      objectOwnership: ObjectOwnership.BUCKET_OWNER_ENFORCED,
      enforceSSL: true,
      minimumTLSVersion: 1.2,
      serverAccessLogsBucket: accessLogs,
      serverAccessLogsPrefix: 'objects/',
      lifecycleRules: [{ id: 'abandoned-uploads', abortIncompleteMultipartUploadAfter: Duration.days(1) }],
      // Without a rule S3 refuses the page's uploads, and the browser withholds what the page reads.
      cors: [
        {
          allowedOrigins: [...pageOrigins],
          allowedMethods: [HttpMethods.GET, HttpMethods.PUT],
          allowedHeaders: PAGE_HEADERS,
          maxAge: 3600,
        },
      ],
      removalPolicy: RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE,
    })
    bucket.addToResourcePolicy(
      new PolicyStatement({
        sid: 'SignaturesAreShortLived',
        effect: Effect.DENY,
        principals: [new AnyPrincipal()],
        actions: ['s3:*'],
        resources: [bucket.arnForObjects('*')],
        conditions: { NumericGreaterThan: { 's3:signatureAge': LIMITS.presignedSeconds * 1000 } },
      }),
    )
    this.bucket = bucket as IBucket
  }
}
