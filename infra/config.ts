import * as z from 'zod'
import { LOG_LEVELS } from '../services/ports/telemetry.ts'
import { Sandboxes } from './sandbox-settings.ts'
import { integer, matching } from './setting-types.ts'

/** Open calls of a deployment without a setting: of an account with 1,000 concurrent functions, the workers need about 300. */
export const OPEN_CALLS = 500
/** Streams of one task behind private ingress. */
export const TASK_STREAMS = 100
/** The Region of CloudFront's web ACLs, certificates and metrics. */
export const CLOUDFRONT_REGION = 'us-east-1'

const PREFIX_LIST = matching(
  /^pl-[0-9a-f]{8,17}$/,
  'must be the id of a prefix list such as pl-63a5400a; `aws ec2 describe-prefix-lists` prints it',
)

const Model = z.strictObject({
  name: matching(/^[\w.:/-]{1,100}$/, 'must be 1 to 100 letters, digits or . : / - _'),
  baseUrl: z.url({ protocol: /^https$/, error: 'must be an https:// URL' }).default('https://api.openai.com/v1'),
  /** The provider's name of the model, if it differs. */
  providerModel: z.string().min(1).optional(),
  /** The entry of the models secret that holds its key. */
  keyName: matching(/^[A-Z][A-Z0-9_]{0,99}$/, 'must be upper-case letters, digits and _, such as OPENAI_API_KEY').default('OPENAI_API_KEY'),
  contextWindow: integer(1_000, 100_000_000, 'tokens').optional(),
})

const CIDR = matching(
  /^\d{1,3}(\.\d{1,3}){3}\/(?:[89]|[12]\d|3[0-2])$/,
  'must be an IPv4 range of /8 to /32, such as 10.0.0.0/8: private ingress opens the API to no larger one',
)

/** An internal load balancer and tasks of the API in a network of the operator, instead of the distribution and the function. */
const PrivateIngress = z.strictObject({
  /** The name by which clients reach the API; it has to resolve to the load balancer. Requests for other names are refused. */
  host: matching(/^(?=.{4,253}$)([a-z0-9-]{1,63}\.)+[a-z]{2,63}$/, 'must be a host name such as code.internal.example.com'),
  certificateArn: matching(
    /^arn:aws[\w-]*:acm:[a-z0-9-]+:\d{12}:certificate\/[\w-]+$/,
    'must be the ARN of an ACM certificate in the Region of the deployment',
  ),
  /** A network that clients reach. Its subnets need a way to AWS: a NAT gateway, or the endpoints that docs/deploy.md lists. */
  vpcId: matching(/^vpc-[0-9a-f]{8,17}$/, 'must be the id of a VPC such as vpc-0123456789abcdef0').optional(),
  subnetIds: z
    .array(matching(/^subnet-[0-9a-f]{8,17}$/, 'must be the id of a subnet such as subnet-0123456789abcdef0'))
    .min(2, { error: 'must name subnets of at least two availability zones: a load balancer needs two' })
    .optional(),
  /** Addresses that may connect. */
  clientCidrs: z.array(CIDR).min(1, { error: 'must name at least one range' }).default(['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16']),
  /** Tasks of the API; more are started when they are busy. */
  tasks: integer(1, 100, 'tasks').default(2),
  maxTasks: integer(1, 100, 'tasks').default(10),
  /** A web ACL of scope REGIONAL that exists already. */
  webAclArn: matching(
    /^arn:aws[\w-]*:wafv2:[a-z0-9-]+:\d{12}:regional\/webacl\/.+$/,
    'must be the ARN of a WAF web ACL of scope REGIONAL',
  ).optional(),
})
export type PrivateIngressSettings = z.infer<typeof PrivateIngress>

const Api = z.strictObject({
  /** CloudFront accepts certificates from us-east-1 only. */
  customDomain: z
    .strictObject({
      name: matching(/^(?=.{4,253}$)([a-z0-9-]{1,63}\.)+[a-z]{2,63}$/, 'must be a host name such as code.example.com'),
      certificateArn: matching(
        /^arn:aws:acm:us-east-1:\d{12}:certificate\/[\w-]+$/,
        'must be the ARN of an ACM certificate in us-east-1, because CloudFront takes no other',
      ),
    })
    .optional(),
  corsOrigins: z
    .array(matching(/^https?:\/\/[^/*\s]+$/, 'must be an origin such as https://app.example.com, without a path or a wildcard'))
    .default([]),
  /**
   * Streams and waiting calls at the same time, in the whole deployment; behind private ingress, streams of one task. More get 429. Default:
   * `reservedConcurrency`, else OPEN_CALLS.
   */
  maxOpenStreams: integer(1, 10_000, 'calls').optional(),
  /**
   * Maximum concurrent API functions, taken from the account's limit, which must keep 100 unreserved. Without it only that limit bounds the cost of
   * a flood of requests.
   */
  reservedConcurrency: integer(1, 10_000, 'functions').optional(),
  /** Fargate tasks for request bodies that are too large for Lambda (6 MB): about 31 US dollars a month. Without it they get 413. */
  uploadService: z.boolean({ error: 'must be true or false' }).default(false),
  /** A web ACL of scope CLOUDFRONT that exists already. */
  webAclArn: matching(
    /^arn:aws:wafv2:us-east-1:\d{12}:global\/webacl\/.+$/,
    'must be the ARN of a WAF web ACL of scope CLOUDFRONT',
  ).optional(),
  /** Without a public entry: no distribution, no function URL. */
  privateIngress: PrivateIngress.refine(({ tasks, maxTasks }) => tasks <= maxTasks, {
    error: 'must have at least as many maxTasks as tasks',
  }).optional(),
  /** Requests of one address in five minutes; AWS WAF answers more with 403. It costs about 6 US dollars a month and 0.60 a million requests. */
  rateLimit: integer(10, 2_000_000_000, 'requests in five minutes').optional(),
})

/** Settings of the distribution and of the API's function, which private ingress does without. */
const PUBLIC_ONLY = ['customDomain', 'webAclArn', 'rateLimit', 'reservedConcurrency'] as const

/** The distribution has one web ACL. */
const ConsistentApi = Api.refine(({ webAclArn, rateLimit }) => webAclArn === undefined || rateLimit === undefined, {
  error: 'must have either webAclArn or rateLimit: add a rate rule to the web ACL that exists',
})
  .refine((api) => api.privateIngress === undefined || PUBLIC_ONLY.every((name) => api[name] === undefined), {
    error: `has settings of the public entry besides privateIngress: remove ${PUBLIC_ONLY.join(', ')}`,
  })
  // The tasks of the API take every body themselves.
  .transform((api) => (api.privateIngress === undefined ? api : { ...api, uploadService: false }))

const Network = z.strictObject({
  /** Address range of the VPC, which holds sandboxes and run workers only. A sandbox takes one address. */
  cidr: matching(/^(10|172|192)(\.\d{1,3}){3}\/1[6-9]$/, 'must be a private IPv4 range of /16 to /19, such as 10.88.0.0/16').default(
    '10.88.0.0/16',
  ),
  /** Availability zones with an interface endpoint. Each costs money all month; one serves all zones while its zone is up. */
  endpointZones: integer(1, 2, 'zones').default(1),
  /** Ids of the two availability zones, such as use1-az1: the same zones in every account. Without ids CloudFormation takes the first two names. */
  zoneIds: z
    .array(matching(/^[a-z]{2,6}\d-az\d{1,2}$/, 'must be the id of an availability zone such as use1-az1'))
    .length(2, { error: 'must name two availability zones' })
    .refine(([one, other]) => one !== other, { error: 'must name two different availability zones' })
    .optional(),
  /** Required in Regions that `prefix-lists.ts` does not list. */
  s3PrefixListId: PREFIX_LIST.optional(),
  dynamodbPrefixListId: PREFIX_LIST.optional(),
  /** A task through which containers with a policy reach the hosts that it allows (docs/network.md): about 13 US dollars a month. */
  gateway: z.boolean({ error: 'must be true or false' }).default(false),
})

/** How CloudFormation deploys: settings of companies that run their own CDK bootstrap. */
const Deployment = z.strictObject({
  /** Qualifier of the CDK bootstrap stack. With one, `npm run deploy` does not bootstrap the account. */
  bootstrapQualifier: matching(
    /^[a-z0-9]{1,10}$/,
    'must be 1 to 10 lower-case letters or digits, as `cdk bootstrap --qualifier` takes it',
  ).optional(),
  /**
   * For this long a new version of api, chat and run serves 10 % of its triggers. Then CodeDeploy shifts the rest, or everything back if an alarm
   * went off. 0: everything at once, without CodeDeploy.
   */
  canaryMinutes: z.literal([0, 5, 10, 15, 30], { error: 'must be 0, 5, 10, 15 or 30 minutes: CodeDeploy has no other canary' }).default(5),
  /** Where Docker builds the images: on the machine that deploys, or in CodeBuild, so that this machine needs no Docker. */
  imageBuilder: z.enum(['docker', 'codebuild'], { error: 'must be docker or codebuild' }).default('docker'),
  /** Name of a managed policy of the account that bounds every role of the deployment. */
  permissionsBoundary: matching(/^[\w+=,.@/-]{1,128}$/, 'must be the name of a managed policy').optional(),
})

export const Config = z.strictObject({
  stage: matching(/^[a-z][a-z0-9-]{0,15}$/, 'must be 1 to 16 lower-case letters, digits or -, beginning with a letter'),
  logLevel: z.enum(LOG_LEVELS, { error: 'must be debug, info, warn or error' }).default('info'),
  sandboxes: Sandboxes,
  models: z
    .strictObject({
      list: z.array(Model).default([]),
      /** The Secrets Manager secret with the models' keys: a JSON object from key name to key. Default: `cellblock/<stage>/models`. */
      secretName: matching(/^[\w/+=.@-]{1,200}$/, 'must be the name of a secret').optional(),
    })
    .prefault({}),
  /** Tools of the model besides the code interpreter. */
  tools: z
    .strictObject({
      /** Requires BRAVE_SEARCH_API_KEY in the models secret. */
      webSearch: z.boolean({ error: 'must be true or false' }).default(false),
      /** Folder of tool files in this project, one tool per file (docs/tools.md). */
      folder: matching(/^(?!\/)(?!.*\.\.)[\w./-]{1,200}$/, 'must be a folder of this project such as tools').optional(),
    })
    .prefault({}),
  api: ConsistentApi.prefault({}),
  network: Network.prefault({}),
  deployment: Deployment.prefault({}),
  data: z
    .strictObject({
      /** A table that `npm run restore` has made of this deployment's backups; the service uses it instead of the table of the Data stack. */
      tableName: matching(/^[\w.-]{3,255}$/, 'must be the name of a table that npm run restore has made').optional(),
    })
    .prefault({}),
  retention: z
    .strictObject({
      logDays: z
        .literal([1, 3, 5, 7, 14, 30, 60, 90, 180, 365], {
          error: 'must be 1, 3, 5, 7, 14, 30, 60, 90, 180 or 365 days: CloudWatch accepts no other',
        })
        .default(30),
      /** Point-in-time recovery window of the table. */
      backupDays: integer(1, 35, 'days').default(35),
    })
    .prefault({}),
  /** Messages of each queue that are processed at the same time. */
  concurrency: z
    .strictObject({
      chat: integer(2, 1_000, 'steps').default(50),
      /** A cell of 10,000 containers uses about 130 at once. */
      run: integer(2, 1_000, 'steps').default(200),
      place: integer(2, 1_000, 'starts').default(50),
      /** The workers' functions reserve it, so that no flood of calls takes it. Default: what `npm run deploy` finds possible; `cdk deploy` reserves none. */
      reserved: z.boolean({ error: 'must be true or false' }).optional(),
    })
    .prefault({}),
  operations: z.strictObject({
    /** AWS Budgets notifies at 80 % of this amount and when the forecast exceeds it. */
    monthlyBudgetUsd: integer(1, 10_000_000, 'US dollars'),
    alarmEmail: z.email({ error: 'must be an e-mail address' }).optional(),
  }),
})
export type Config = z.infer<typeof Config>

/**
 * Reads the context value `cellblock`: an object from cdk.json, or JSON text from `-c cellblock='{…}'`.
 * Throws an Error with one sentence per wrong value.
 */
export function readConfig(context: unknown): Config {
  const parsed = Config.safeParse(typeof context === 'string' ? parseJson(context) : context)
  if (parsed.success) return parsed.data
  throw new Error(parsed.error.issues.map(sentenceOf).join('\n'))
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new Error("The context value 'cellblock' must be a JSON object.", { cause })
  }
}

const withNewName = (name: string): string => (name === 'warmMost' ? `${name} (now warmMax)` : name)

function sentenceOf(issue: z.core.$ZodIssue): string {
  const path = ['cellblock', ...issue.path].join('.')
  if (issue.code === 'unrecognized_keys')
    return `${path} has an unknown setting: ${issue.keys.map(withNewName).join(', ')}. Correct its name or remove it (cdk.json, "context").`
  const missing = issue.code === 'invalid_type' && issue.input === undefined
  return `${path} ${missing && issue.message.startsWith('Invalid input') ? 'is missing' : issue.message}. Correct it in cdk.json ("context").`
}
