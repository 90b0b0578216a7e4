import { CfnMapping, Stack } from 'aws-cdk-lib'
import type { Construct } from 'constructs'

/**
 * AWS's prefix lists of S3 and DynamoDB per Region, as `aws ec2 describe-prefix-lists` prints them; the ids are the same in every account.
 * CloudFormation cannot look them up without a custom resource, which would need another trusted function.
 */
const PREFIX_LISTS = {
  'us-east-1': { s3: 'pl-63a5400a', dynamodb: 'pl-02cd2c6b' },
  'us-east-2': { s3: 'pl-7ba54012', dynamodb: 'pl-4ca54025' },
  'us-west-1': { s3: 'pl-6ba54002', dynamodb: 'pl-6ea54007' },
  'us-west-2': { s3: 'pl-68a54001', dynamodb: 'pl-00a54069' },
  'ca-central-1': { s3: 'pl-7da54014', dynamodb: 'pl-4ea54027' },
  'sa-east-1': { s3: 'pl-6aa54003', dynamodb: 'pl-60a54009' },
  'eu-west-1': { s3: 'pl-6da54004', dynamodb: 'pl-6fa54006' },
  'eu-west-2': { s3: 'pl-7ca54015', dynamodb: 'pl-b3a742da' },
  'eu-west-3': { s3: 'pl-23ad484a', dynamodb: 'pl-abb451c2' },
  'eu-central-1': { s3: 'pl-6ea54007', dynamodb: 'pl-66a5400f' },
  'ap-south-1': { s3: 'pl-78a54011', dynamodb: 'pl-66a7420f' },
  'ap-northeast-1': { s3: 'pl-61a54008', dynamodb: 'pl-78a54011' },
  'ap-northeast-2': { s3: 'pl-78a54011', dynamodb: 'pl-48a54021' },
  'ap-southeast-1': { s3: 'pl-6fa54006', dynamodb: 'pl-67a5400e' },
  'ap-southeast-2': { s3: 'pl-6ca54005', dynamodb: 'pl-62a5400b' },
} as const

export interface PrefixLists {
  readonly s3: string
  readonly dynamodb: string
}

/** The prefix lists of the deployment's Region, or those of the settings. In an unlisted Region CloudFormation fails and names the mapping. */
export function prefixLists(
  scope: Construct,
  configured: { readonly s3: string | undefined; readonly dynamodb: string | undefined },
): PrefixLists {
  if (configured.s3 !== undefined && configured.dynamodb !== undefined) return { s3: configured.s3, dynamodb: configured.dynamodb }
  const mapping = new CfnMapping(scope, 'SetPrefixListIdsInConfigForThisRegion', { mapping: PREFIX_LISTS })
  const inRegion = (service: 's3' | 'dynamodb') => mapping.findInMap(Stack.of(scope).region, service)
  return { s3: configured.s3 ?? inRegion('s3'), dynamodb: configured.dynamodb ?? inRegion('dynamodb') }
}
