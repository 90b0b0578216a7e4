import { CfnOutput, RemovalPolicy, Stack, type StackProps } from 'aws-cdk-lib'
import { FunctionUrlAuthType, InvokeMode, type IFunction } from 'aws-cdk-lib/aws-lambda'
import type { ILogGroup } from 'aws-cdk-lib/aws-logs'
import { Secret, type ISecret } from 'aws-cdk-lib/aws-secretsmanager'
import type { Role } from 'aws-cdk-lib/aws-iam'
import type { Construct } from 'constructs'
import type { IamAccess } from '../iam-statements.ts'
import type { Config } from '../config.ts'
import { PublicEdge } from '../constructs/public-edge.ts'
import { consume } from '../constructs/queue-consumer.ts'
import { SandboxEvents } from '../constructs/sandbox-events.ts'
import { Sandboxes } from '../constructs/sandboxes.ts'
import { createSiteBucket } from '../constructs/site-bucket.ts'
import { WorkerFunction, type WorkerFunctionProps } from '../constructs/worker-function.ts'
import { WorkerRole } from '../constructs/worker-role.ts'
import { apiEnvironment, chatEnvironment, placeEnvironment, runEnvironment, storageEnvironment } from '../environments.ts'
import { functionName, type FunctionId } from '../function-name.ts'
import { apiAccess, chatAccess, placeAccess, reconcilerAccess } from '../iam-policies.ts'
import type { DataStack } from './data-stack.ts'
import type { NetworkStack } from './network-stack.ts'

/** A start is one call to ECS, so a function performs several at once. */
const PLACE_BATCH = 10

export interface ServiceStackProps extends StackProps {
  readonly config: Config
  readonly image: string
  readonly toolTypes: readonly string[]
  readonly data: DataStack
  readonly network: NetworkStack
}

/** The five functions with their triggers, the sandbox cluster, and the public address of the API. */
export class ServiceStack extends Stack {
  readonly functions: Readonly<Record<FunctionId, IFunction>>
  readonly logs: Readonly<Record<FunctionId, ILogGroup>>
  private readonly config: Config

  constructor(scope: Construct, id: string, { config, image, toolTypes, data, network, ...props }: ServiceStackProps) {
    super(scope, id, props)
    this.config = config
    const storage = storageEnvironment(config, data)
    const sandboxes = new Sandboxes(this, 'Sandboxes', { config, image, executionRole: network.executionRole })
    const originSecret = new Secret(this, 'OriginSecret', {
      description: 'Cellblock: shared by the distribution and the API only',
      generateSecretString: { passwordLength: 48, excludePunctuation: true },
      removalPolicy: RemovalPolicy.DESTROY,
    })
    const place = { environment: placeEnvironment(config, storage, image, network, sandboxes), memoryMiB: 512 }
    const roleFor = (name: FunctionId, access: readonly IamAccess[]): Role =>
      new WorkerRole(this, `${name}-role`, { functionName: functionName(config.stage, name), access }).role
    const workers = {
      // A stream stays open for Lambda's maximum; the client resumes it by event number.
      api: this.add('api', {
        entry: 'services/api/lambda.ts',
        role: roleFor('api', apiAccess(data, originSecret.secretArn)),
        environment: { ...apiEnvironment(config, storage, originSecret.secretArn), TOOL_TYPES: toolTypes.join(',') },
        timeoutSeconds: 900,
        memoryMiB: 1024,
        reservedConcurrency: config.api.reservedConcurrency,
      }),
      chat: this.add('chat', {
        entry: 'services/chat/lambda.ts',
        toolsFolder: config.tools.folder,
        role: roleFor('chat', chatAccess(data)),
        environment: chatEnvironment(config, storage, data),
        timeoutSeconds: 900,
        memoryMiB: 512,
      }),
      run: this.add('run', {
        entry: 'services/orchestrator/run/lambda.ts',
        role: network.runRole,
        environment: runEnvironment(config, storage, image),
        timeoutSeconds: 120,
        memoryMiB: 1024,
        vpcPlacement: { vpc: network.vpc, subnets: network.runSubnets, securityGroup: network.runGroup },
      }),
      place: this.add('place', {
        ...place,
        entry: 'services/orchestrator/place/lambda.ts',
        role: roleFor('place', placeAccess(data, sandboxes.computeAccess)),
        // A step is one call to ECS, or the rows and messages of one refill.
        timeoutSeconds: 60,
      }),
      reconciler: this.add('reconciler', {
        ...place,
        entry: 'services/orchestrator/reconciler/lambda.ts',
        role: roleFor('reconciler', reconcilerAccess(data, sandboxes.computeAccess)),
        timeoutSeconds: 120,
      }),
    }
    const functions = mapValues(workers, (worker) => worker.function)
    this.functions = functions
    this.logs = mapValues(workers, (worker) => worker.log)

    const { queues } = data
    consume(functions.chat, queues.turns.queue, config.concurrency.chat)
    consume(functions.run, queues.executions.queue, config.concurrency.run)
    consume(functions.place, queues.placements.queue, config.concurrency.place, PLACE_BATCH)
    for (const { deadLetterQueue } of Object.values(queues)) consume(functions.reconciler, deadLetterQueue, 2)
    new SandboxEvents(this, 'SandboxEvents', { reconciler: functions.reconciler, clusterArn: sandboxes.clusterArn })

    const functionUrl = functions.api.addFunctionUrl({ authType: FunctionUrlAuthType.NONE, invokeMode: InvokeMode.RESPONSE_STREAM })
    const site = createSiteBucket(this, data.accessLogs)
    const { customDomain, webAclArn } = config.api
    const edge = new PublicEdge(this, 'Edge', { functionUrl, site, originSecret: originSecret as ISecret, customDomain, webAclArn })
    new CfnOutput(this, 'Url', { value: edge.url, description: 'The base URL of the API' })
    new CfnOutput(this, 'EdgeDomain', { value: edge.distribution.distributionDomainName, description: 'Point the custom domain here' })
    new CfnOutput(this, 'SiteBucket', { value: site.bucketName, description: 'Scripts that the pages load' })
    new CfnOutput(this, 'ModelsSecret', { value: data.modelsSecretName, description: 'Put the keys of the models here' })
  }

  private add(name: FunctionId, props: Omit<WorkerFunctionProps, 'config' | 'name'>): WorkerFunction {
    return new WorkerFunction(this, name, { ...props, config: this.config, name })
  }
}

const mapValues = <Key extends string, From, To>(record: Readonly<Record<Key, From>>, map: (value: From) => To): Record<Key, To> =>
  Object.fromEntries(Object.entries<From>(record).map(([key, value]) => [key, map(value)])) as Record<Key, To>
