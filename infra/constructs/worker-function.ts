import { Duration, RemovalPolicy } from 'aws-cdk-lib'
import type { ISecurityGroup, ISubnet, IVpc } from 'aws-cdk-lib/aws-ec2'
import type { Role } from 'aws-cdk-lib/aws-iam'
import {
  ApplicationLogLevel,
  Architecture,
  Function as LambdaFunction,
  LoggingFormat,
  RecursiveLoop,
  Runtime,
  SystemLogLevel,
} from 'aws-cdk-lib/aws-lambda'
import { LogGroup } from 'aws-cdk-lib/aws-logs'
import { Construct } from 'constructs'
import type { Config } from '../config.ts'
import { functionName, type FunctionId } from '../function-name.ts'
import { functionCode } from './function-code.ts'
import { logGroupName } from './worker-role.ts'

export interface WorkerFunctionProps {
  readonly config: Pick<Config, 'stage' | 'logLevel' | 'retention'>
  readonly name: FunctionId
  /** Path of the entry file in the project. */
  readonly entry: string
  /** Folder of tool files in the project to bundle. */
  readonly toolsFolder?: string | undefined
  readonly role: Role
  readonly environment: Readonly<Record<string, string>>
  readonly timeoutSeconds: number
  readonly memoryMiB: number
  /** Maximum concurrent executions, taken from the account's limit. */
  readonly reservedConcurrency?: number | undefined
  /** Without it the function runs outside a VPC, with internet access. */
  readonly vpcPlacement?: { readonly vpc: IVpc; readonly subnets: readonly ISubnet[]; readonly securityGroup: ISecurityGroup }
}

const LOG_LEVELS: Record<Config['logLevel'], ApplicationLogLevel> = {
  debug: ApplicationLogLevel.DEBUG,
  info: ApplicationLogLevel.INFO,
  warn: ApplicationLogLevel.WARN,
  error: ApplicationLogLevel.ERROR,
}

/** A Lambda function on arm64 and Node 24 with its own role and log group. */
export class WorkerFunction extends Construct {
  readonly function: LambdaFunction
  readonly log: LogGroup

  constructor(scope: Construct, id: string, { config, vpcPlacement, ...props }: WorkerFunctionProps) {
    super(scope, id)
    const name = functionName(config.stage, props.name)
    this.log = new LogGroup(this, 'Log', {
      logGroupName: logGroupName(name),
      retention: config.retention.logDays,
      removalPolicy: RemovalPolicy.DESTROY,
    })
    this.function = new LambdaFunction(this, 'Resource', {
      functionName: name,
      code: functionCode(props.entry, props.toolsFolder),
      handler: 'index.handler',
      runtime: Runtime.NODEJS_24_X,
      architecture: Architecture.ARM_64,
      // The role is complete: constructs must not add grants.
      role: props.role.withoutPolicyUpdates(),
      environment: { ...props.environment },
      timeout: Duration.seconds(props.timeoutSeconds),
      memorySize: props.memoryMiB,
      ...(props.reservedConcurrency === undefined ? {} : { reservedConcurrentExecutions: props.reservedConcurrency }),
      // A turn passes between queues more often than 16 times, after which Lambda would drop it as a loop.
      recursiveLoop: RecursiveLoop.ALLOW,
      loggingFormat: LoggingFormat.JSON,
      applicationLogLevelV2: LOG_LEVELS[config.logLevel],
      systemLogLevelV2: SystemLogLevel.WARN,
      logGroup: this.log,
      ...(vpcPlacement === undefined
        ? {}
        : { vpc: vpcPlacement.vpc, vpcSubnets: { subnets: [...vpcPlacement.subnets] }, securityGroups: [vpcPlacement.securityGroup] }),
    })
  }
}
