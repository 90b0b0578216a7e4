/** One price as AWS publishes it, US dollars. */
export interface Price {
  readonly usd: number
  /** What one `usd` buys. */
  readonly unit: string
  /** Where the figure is published. */
  readonly source: string
}

const AWS = 'https://aws.amazon.com'
const price = (usd: number, unit: string, page: string): Price => ({ usd, unit, source: `${AWS}/${page}/pricing/` })

/** The day on which these figures were written down, and the Region they are for. Every estimate shows both. */
export const PRICES_AS_OF = '2026-11-21'
export const PRICES_REGION = 'us-east-1'

/** List prices, on demand, without free tiers. The one place for them: estimates in results, the cost command and the docs read it. */
export const PRICES = {
  fargateX86VcpuHour: price(0.04048, 'vCPU-hour', 'fargate'),
  fargateX86GbHour: price(0.004445, 'GB-hour', 'fargate'),
  fargateArmVcpuHour: price(0.03238, 'vCPU-hour', 'fargate'),
  fargateArmGbHour: price(0.00356, 'GB-hour', 'fargate'),
  /** Disk beyond the 20 GB that come with a task. */
  fargateDiskGbHour: price(0.000111, 'GB-hour', 'fargate'),
  lambdaArmGbSecond: price(0.0000133334, 'GB-second', 'lambda'),
  lambdaMillionRequests: price(0.2, 'million requests', 'lambda'),
  sqsMillionRequests: price(0.4, 'million requests', 'sqs'),
  dynamodbMillionWrites: price(0.625, 'million write units of 1 KB', 'dynamodb'),
  dynamodbMillionReads: price(0.125, 'million read units of 4 KB', 'dynamodb'),
  dynamodbGbMonth: price(0.25, 'GB-month', 'dynamodb'),
  dynamodbBackupGbMonth: price(0.2, 'GB-month', 'dynamodb'),
  s3GbMonth: price(0.023, 'GB-month', 's3'),
  s3ThousandPuts: price(0.005, 'thousand PUT requests', 's3'),
  s3ThousandGets: price(0.0004, 'thousand GET requests', 's3'),
  ecrGbMonth: price(0.1, 'GB-month', 'ecr'),
  /** One interface endpoint in one zone. */
  endpointHour: price(0.01, 'hour', 'privatelink'),
  endpointGb: price(0.01, 'GB', 'privatelink'),
  kmsKeyMonth: price(1, 'month', 'kms'),
  kmsTenThousandRequests: price(0.03, 'ten thousand requests', 'kms'),
  secretMonth: price(0.4, 'month', 'secrets-manager'),
  alarmMonth: price(0.1, 'alarm metric and month', 'cloudwatch'),
  metricMonth: price(0.3, 'metric and month', 'cloudwatch'),
  logsGb: price(0.5, 'GB taken in', 'cloudwatch'),
  logsGbMonth: price(0.03, 'GB-month', 'cloudwatch'),
  cloudfrontTenThousandRequests: price(0.01, 'ten thousand HTTPS requests', 'cloudfront'),
  cloudfrontGb: price(0.085, 'GB to the internet', 'cloudfront'),
  dnsFirewallMillionQueries: price(0.6, 'million queries', 'route53'),
} as const satisfies Record<string, Price>
