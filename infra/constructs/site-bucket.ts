import { RemovalPolicy } from 'aws-cdk-lib'
import { BlockPublicAccess, Bucket, BucketEncryption, ObjectOwnership, type IBucket } from 'aws-cdk-lib/aws-s3'
import { BucketDeployment, Source } from 'aws-cdk-lib/aws-s3-deployment'
import type { Construct } from 'constructs'

/**
 * The web page, and browser scripts that are too large for a function bundle. CloudFormation fills it from `folder`; without one the deploy command
 * does. It holds no tenant data.
 */
export function createSiteBucket(scope: Construct, accessLogs: IBucket, folder: string | null): IBucket {
  const bucket = new Bucket(scope, 'Site', {
    encryption: BucketEncryption.S3_MANAGED,
    blockPublicAccess: BlockPublicAccess.BLOCK_ALL,
    objectOwnership: ObjectOwnership.BUCKET_OWNER_ENFORCED,
    enforceSSL: true,
    minimumTLSVersion: 1.2,
    serverAccessLogsBucket: accessLogs,
    serverAccessLogsPrefix: 'site/',
    removalPolicy: RemovalPolicy.DESTROY,
    autoDeleteObjects: folder !== null,
  })
  // An older page may still load files of the previous version.
  if (folder !== null)
    new BucketDeployment(scope, 'SiteFiles', {
      sources: [Source.asset(folder)],
      destinationBucket: bucket as IBucket,
      prune: false,
      memoryLimit: 512,
    })
  return bucket as IBucket
}
