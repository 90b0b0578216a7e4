import { Stack, type StackProps } from 'aws-cdk-lib'
import type { Construct } from 'constructs'

/** Feature flags of the CDK that shape the templates. `cdk.json` has the same, for what the CDK reads of the whole app. */
export const CDK_FLAGS: Readonly<Record<string, unknown>> = {
  '@aws-cdk/aws-iam:minimizePolicies': true,
  '@aws-cdk/aws-lambda:recognizeLayerVersion': true,
  '@aws-cdk/aws-lambda:recognizeVersionProps': true,
  '@aws-cdk/aws-lambda-nodejs:useLatestRuntimeVersion': true,
  '@aws-cdk/aws-s3:createDefaultLoggingPolicy': true,
  '@aws-cdk/aws-s3:serverAccessLogsUseBucketPolicy': true,
  '@aws-cdk/aws-s3:publicAccessBlockedByDefault': true,
  '@aws-cdk/aws-sns-subscriptions:restrictSqsDescryption': true,
  '@aws-cdk/aws-sqs:enforceSsl': true,
  '@aws-cdk/core:checkSecretUsage': true,
  '@aws-cdk/core:defaultCrossStackReferences': 'strong',
  '@aws-cdk/core:explicitStackTags': true,
  '@aws-cdk/core:target-partitions': ['aws'],
}

/** A stack with these flags, whatever the app sets that contains it. */
export class FlaggedStack extends Stack {
  constructor(scope: Construct, id: string, props: StackProps) {
    super(scope, id, props)
    for (const [flag, value] of Object.entries(CDK_FLAGS)) this.node.setContext(flag, value)
  }
}
