import { awsPrice, FARGATE_PRICES, type Price } from '../../services/adapters/drivers/fargate/prices.ts'

/** On-demand list prices without free tiers, of the day and Region in `drivers/fargate/prices.ts`. The cost model reads no other table. */
export const PRICES = {
  ...FARGATE_PRICES,
  lambdaArmGbSecond: awsPrice(0.0000133334, 'GB-second', 'lambda'),
  lambdaMillionRequests: awsPrice(0.2, 'million requests', 'lambda'),
  sqsMillionRequests: awsPrice(0.4, 'million requests', 'sqs'),
  dynamodbMillionWrites: awsPrice(0.625, 'million write units of 1 KB', 'dynamodb'),
  dynamodbMillionReads: awsPrice(0.125, 'million read units of 4 KB', 'dynamodb'),
  dynamodbGbMonth: awsPrice(0.25, 'GB-month', 'dynamodb'),
  dynamodbBackupGbMonth: awsPrice(0.2, 'GB-month', 'dynamodb'),
  s3GbMonth: awsPrice(0.023, 'GB-month', 's3'),
  s3ThousandPuts: awsPrice(0.005, 'thousand PUT requests', 's3'),
  s3ThousandGets: awsPrice(0.0004, 'thousand GET requests', 's3'),
  ecrGbMonth: awsPrice(0.1, 'GB-month', 'ecr'),
  /** One interface endpoint in one zone. */
  endpointHour: awsPrice(0.01, 'hour', 'privatelink'),
  endpointGb: awsPrice(0.01, 'GB', 'privatelink'),
  kmsKeyMonth: awsPrice(1, 'month', 'kms'),
  kmsTenThousandRequests: awsPrice(0.03, 'ten thousand requests', 'kms'),
  secretMonth: awsPrice(0.4, 'month', 'secrets-manager'),
  alarmMonth: awsPrice(0.1, 'alarm metric and month', 'cloudwatch'),
  metricMonth: awsPrice(0.3, 'metric and month', 'cloudwatch'),
  logsGb: awsPrice(0.5, 'GB ingested', 'cloudwatch'),
  logsGbMonth: awsPrice(0.03, 'GB-month', 'cloudwatch'),
  cloudfrontTenThousandRequests: awsPrice(0.01, 'ten thousand HTTPS requests', 'cloudfront'),
  cloudfrontGb: awsPrice(0.085, 'GB to the internet', 'cloudfront'),
  /** Without the capacity units, which are proportional to use. */
  loadBalancerHour: awsPrice(0.0225, 'hour', 'elasticloadbalancing'),
  publicAddressHour: awsPrice(0.005, 'hour', 'vpc'),
  webAclMonth: awsPrice(5, 'web ACL and month', 'waf'),
  webAclRuleMonth: awsPrice(1, 'rule and month', 'waf'),
  dnsFirewallMillionQueries: awsPrice(0.6, 'million queries', 'route53'),
} as const satisfies Record<string, Price>
