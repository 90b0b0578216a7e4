import { RemovalPolicy } from 'aws-cdk-lib'
import { BlockPublicAccess, Bucket, BucketEncryption, ObjectOwnership, type IBucket } from 'aws-cdk-lib/aws-s3'
import type { Construct } from 'constructs'

/** Browser scripts that are too large for a function bundle. The deploy command fills it; it holds no tenant data. */
export const createSiteBucket = (scope: Construct, accessLogs: IBucket): IBucket =>
  new Bucket(scope, 'Site', {
    encryption: BucketEncryption.S3_MANAGED,
    blockPublicAccess: BlockPublicAccess.BLOCK_ALL,
    objectOwnership: ObjectOwnership.BUCKET_OWNER_ENFORCED,
    enforceSSL: true,
    minimumTLSVersion: 1.2,
    serverAccessLogsBucket: accessLogs,
    serverAccessLogsPrefix: 'site/',
    removalPolicy: RemovalPolicy.DESTROY,
  }) as IBucket
