import { RemovalPolicy } from 'aws-cdk-lib'
import { Key } from 'aws-cdk-lib/aws-kms'
import type { Construct } from 'constructs'

/** One key for everything that tenants own. Deleting it makes table, objects and every backup unreadable at once. */
export const createEncryptionKey = (scope: Construct, stage: string): Key =>
  new Key(scope, 'Key', {
    description: `Cellblock ${stage}: rows, objects and secrets`,
    enableKeyRotation: true,
    removalPolicy: RemovalPolicy.RETAIN,
  })
