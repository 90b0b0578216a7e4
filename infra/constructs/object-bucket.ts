import { Duration, RemovalPolicy } from 'aws-cdk-lib'
import { AnyPrincipal, Effect, PolicyStatement } from 'aws-cdk-lib/aws-iam'
import type { IKey } from 'aws-cdk-lib/aws-kms'
import { BlockPublicAccess, Bucket, BucketEncryption, HttpMethods, ObjectOwnership, type IBucket } from 'aws-cdk-lib/aws-s3'
import { Construct } from 'constructs'
import { LIMITS } from '../../services/core/limits.ts'

export interface ObjectBucketProps {
  readonly key: IKey
  readonly accessLogs: IBucket
  readonly corsOrigins: readonly string[]
}

/**
 * Files, outputs and snapshots of all tenants. Without versioning, so that a delete is final. No lifecycle rule expires `tenants/`: the
 * reconciler deletes an object when its container has expired.
 */
export class ObjectBucket extends Construct {
  readonly bucket: IBucket

  constructor(scope: Construct, id: string, { key, accessLogs, corsOrigins }: ObjectBucketProps) {
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
      cors:
        corsOrigins.length === 0
          ? []
          : [
              {
                allowedOrigins: [...corsOrigins],
                allowedMethods: [HttpMethods.GET, HttpMethods.PUT],
                allowedHeaders: ['content-type'],
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
