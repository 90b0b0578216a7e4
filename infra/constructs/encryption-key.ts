import { RemovalPolicy } from 'aws-cdk-lib'
import { Key } from 'aws-cdk-lib/aws-kms'
import type { Construct } from 'constructs'

/** Encrypts all tenant data. Deleting the key makes the table, the objects and every backup unreadable. */
export const createEncryptionKey = (scope: Construct, stage: string): Key =>
  new Key(scope, 'Key', {
    description: `Cellblock ${stage}: rows, objects and secrets`,
    enableKeyRotation: true,
    removalPolicy: RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE,
  })
