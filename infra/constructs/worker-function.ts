import { Duration, RemovalPolicy, Stack } from 'aws-cdk-lib'
import type { ISecurityGroup, ISubnet, IVpc } from 'aws-cdk-lib/aws-ec2'
import type { Role } from 'aws-cdk-lib/aws-iam'
import {
  Alias,
  ApplicationLogLevel,
  Architecture,
  type Code,
  Function as LambdaFunction,
  type IFunction,
  type IVersion,
  LoggingFormat,
  RecursiveLoop,
  Runtime,
  SystemLogLevel,
} from 'aws-cdk-lib/aws-lambda'
import { LogGroup } from 'aws-cdk-lib/aws-logs'
import { Construct } from 'constructs'
import type { Config } from '../config.ts'
import { FUNCTION_MEMORY_MIB, functionName, type FunctionId } from '../function-name.ts'
import { logGroupName } from './worker-role.ts'

export interface WorkerFunctionProps {
  readonly config: Pick<Config, 'stage' | 'logLevel' | 'retention'>
  readonly name: FunctionId
  readonly code: Code
  readonly role: Role
  readonly environment: Readonly<Record<string, string>>
  readonly timeoutSeconds: number
  /** Triggers invoke an alias of a published version, to which a deployment can shift them in steps. */
  readonly hasAlias?: boolean
  /** Maximum concurrent executions, taken from the account's limit. */
  readonly reservedConcurrency?: number | undefined
  /** Without it the function runs outside a VPC, with internet access. */
  readonly vpcPlacement?: { readonly vpc: IVpc; readonly subnets: readonly ISubnet[]; readonly securityGroup: ISecurityGroup }
}

/** The alias that the triggers of a function invoke. */
export const LIVE_ALIAS = 'live'

/** A Lambda function on arm64 and Node 24 with its own role and log group. */
export class WorkerFunction extends Construct {
  readonly function: LambdaFunction
  /** Null: the triggers invoke the function itself. */
  readonly alias: Alias | null
  readonly log: LogGroup

  constructor(scope: Construct, id: string, { config, vpcPlacement, hasAlias = false, ...props }: WorkerFunctionProps) {
    super(scope, id)
    const name = functionName(config.stage, props.name)
    this.log = new LogGroup(this, 'Log', {
      logGroupName: logGroupName(name),
      retention: config.retention.logDays,
      removalPolicy: RemovalPolicy.DESTROY,
    })
    this.function = new LambdaFunction(this, 'Resource', {
      functionName: name,
      code: props.code,
      handler: 'index.handler',
      runtime: Runtime.NODEJS_24_X,
      architecture: Architecture.ARM_64,
      // The role is complete: constructs must not add grants.
      role: props.role.withoutPolicyUpdates(),
      environment: { ...props.environment },
      timeout: Duration.seconds(props.timeoutSeconds),
      memorySize: FUNCTION_MEMORY_MIB[props.name],
      ...(props.reservedConcurrency === undefined ? {} : { reservedConcurrentExecutions: props.reservedConcurrency }),
      // A turn passes between queues more often than 16 times, after which Lambda would drop it as a loop.
      recursiveLoop: RecursiveLoop.ALLOW,
      loggingFormat: LoggingFormat.JSON,
      // The functions leave out lines by themselves (LOG_LEVEL): Lambda would drop metrics with them, which alarms need.
      applicationLogLevelV2: config.logLevel === 'debug' ? ApplicationLogLevel.DEBUG : ApplicationLogLevel.INFO,
      systemLogLevelV2: SystemLogLevel.WARN,
      logGroup: this.log,
      // A request may still run in an older version when the alias has left it. In a VPC an older version would hold its network interfaces, and no
      // network could be removed; the lease of an execution passes to the next version.
      currentVersionOptions: {
        removalPolicy: vpcPlacement === undefined ? RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE : RemovalPolicy.DESTROY,
      },
      ...(vpcPlacement === undefined
        ? {}
        : { vpc: vpcPlacement.vpc, vpcSubnets: { subnets: [...vpcPlacement.subnets] }, securityGroups: [vpcPlacement.securityGroup] }),
    })
    this.node.addValidation({ validate: () => environmentFindings(name, Stack.of(this).resolve(props.environment)) })
    this.alias = hasAlias ? new Alias(this, 'Live', { aliasName: LIVE_ALIAS, version: this.function.currentVersion as IVersion }) : null
  }

  /** What triggers invoke. */
  get target(): IFunction {
    return (this.alias ?? this.function) as IFunction
  }
}

/** Lambda refuses a function with more. */
const MAX_ENVIRONMENT_BYTES = 4_096
/** Of values that only the deployment knows: the ARN of a task definition; the URL of a queue or the id of another stack's resource; an account or a Region. */
const UNKNOWN_BYTES = { own: 112, imported: 80, pseudo: 16 } as const

/** Otherwise CloudFormation says so in the middle of a deployment. */
export function environmentFindings(name: string, environment: unknown): string[] {
  const bytes = bytesOf(environment)
  return bytes <= MAX_ENVIRONMENT_BYTES
    ? []
    : [
        `The variables of the function ${name} have about ${bytes} bytes, and Lambda accepts ${MAX_ENVIRONMENT_BYTES}. Offer fewer images or memory tiers (cdk.json), or use a shorter stage.`,
      ]
}

function bytesOf(value: unknown): number {
  if (typeof value === 'string') return Buffer.byteLength(value)
  if (Array.isArray(value)) return value.reduce<number>((sum, part) => sum + bytesOf(part), 0)
  if (typeof value !== 'object' || value === null) return 0
  const entries = Object.entries(value)
  const [[name, inner] = ['', null]] = entries
  if (name === 'Fn::Join') return bytesOf((inner as unknown[])[1])
  if (name === 'Ref') return String(inner).startsWith('AWS::') ? UNKNOWN_BYTES.pseudo : UNKNOWN_BYTES.own
  if (name.startsWith('Fn::')) return UNKNOWN_BYTES.imported
  return entries.reduce((sum, [key, part]) => sum + Buffer.byteLength(key) + bytesOf(part), 0)
}
