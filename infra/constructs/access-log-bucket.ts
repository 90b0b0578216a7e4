import { Duration, RemovalPolicy } from 'aws-cdk-lib'
import { BlockPublicAccess, Bucket, BucketEncryption, ObjectOwnership, type IBucket } from 'aws-cdk-lib/aws-s3'
import type { Construct } from 'constructs'

/** S3 access logs and flow logs. Signed links in the logs have expired before S3 delivers a line. */
export const createAccessLogBucket = (scope: Construct, logDays: number): IBucket =>
  new Bucket(scope, 'AccessLogs', {
    encryption: BucketEncryption.S3_MANAGED,
    blockPublicAccess: BlockPublicAccess.BLOCK_ALL,
    objectOwnership: ObjectOwnership.BUCKET_OWNER_ENFORCED,
    enforceSSL: true,
    minimumTLSVersion: 1.2,
    lifecycleRules: [{ expiration: Duration.days(logDays), abortIncompleteMultipartUploadAfter: Duration.days(1) }],
    removalPolicy: RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE,
  }) as IBucket
