import { CfnOutput, RemovalPolicy, type StackProps } from 'aws-cdk-lib'
import type { Distribution } from 'aws-cdk-lib/aws-cloudfront'
import { FunctionUrlAuthType, InvokeMode } from 'aws-cdk-lib/aws-lambda'
import type { ILogGroup } from 'aws-cdk-lib/aws-logs'
import { Secret, type ISecret } from 'aws-cdk-lib/aws-secretsmanager'
import type { Role } from 'aws-cdk-lib/aws-iam'
import type { Construct } from 'constructs'
import { PAGE_PREFIX, REFERENCE_KEY } from '../../services/http/origin/config.ts'
import type { ApiEnv } from '../../services/entries/aws/api/config.ts'
import type { DeploymentAssets } from '../assets.ts'
import type { IamAccess } from '../iam-statements.ts'
import type { Config } from '../config.ts'
import { workerFunctions } from '../worker-concurrency.ts'
import { Canary, RELEASED } from '../constructs/canary.ts'
import { metricsOf } from '../constructs/metrics.ts'
import { NetworkGateway } from '../constructs/network-gateway.ts'
import { PrivateIngress, readIngressNetwork, type IngressNetwork } from '../constructs/private-ingress.ts'
import { PublicEdge, type PublicEdgeProps } from '../constructs/public-edge.ts'
import { consume } from '../constructs/queue-consumer.ts'
import type { RemoteBuilds } from '../constructs/remote-builds.ts'
import { SandboxEvents } from '../constructs/sandbox-events.ts'
import { Sandboxes } from '../constructs/sandboxes.ts'
import { createSiteBucket } from '../constructs/site-bucket.ts'
import { UploadService } from '../constructs/upload-service.ts'
import { WorkerFunction, type WorkerFunctionProps } from '../constructs/worker-function.ts'
import { WorkerRole } from '../constructs/worker-role.ts'
import {
  openCallsOf,
  apiEnvironment,
  chatEnvironment,
  gatewayEnvironment,
  placeEnvironment,
  runEnvironment,
  storageEnvironment,
} from '../environments.ts'
import { functionName, type FunctionId, type ServiceFunctions } from '../function-name.ts'
import { apiAccess, chatAccess, gatewayAccess, placeAccess, reconcilerAccess } from '../iam-policies.ts'
import { CHAT_FUNCTION_SECONDS } from '../../services/entries/aws/chat/config.ts'
import type { DataStack } from './data-stack.ts'
import type { NetworkStack } from './network-stack.ts'
import { FlaggedStack } from './flagged-stack.ts'

/** A start is one call to ECS, so a function performs several at once. */
const PLACE_BATCH = 10

export interface ServiceStackProps extends StackProps {
  readonly config: Config
  /** URIs by the names of the images; the first is the default. */
  readonly images: Readonly<Record<string, string>>
  readonly assets: DeploymentAssets
  readonly toolTypes: readonly string[]
  /** Builds the image of the API's tasks. Null: the CDK does, with Docker. */
  readonly builds: RemoteBuilds | null
  /** The web ACL of the distribution, if there is one. */
  readonly webAclArn: string | undefined
  readonly data: DataStack
  readonly network: NetworkStack
  /** Of private ingress. Undefined: the network that its settings name. */
  readonly ingressNetwork: IngressNetwork | undefined
}

interface WorkerParts {
  readonly data: DataStack
  readonly network: NetworkStack
  readonly sandboxes: Sandboxes
  readonly storage: ReturnType<typeof storageEnvironment>
  readonly images: Readonly<Record<string, string>>
}

type Workers = Readonly<Record<Exclude<FunctionId, 'api'>, WorkerFunction>> & { readonly api?: WorkerFunction }

/** What the API runs with, as a function or as tasks. */
interface ApiParts {
  readonly environment: Readonly<Record<string, string>>
  readonly access: readonly IamAccess[]
}

/** The functions with their triggers, the sandbox cluster, and the entry of the API: public with a distribution, or private with a load balancer. */
export class ServiceStack extends FlaggedStack {
  /** Without `api` behind private ingress. */
  readonly functions: ServiceFunctions
  readonly logs: Readonly<Partial<Record<FunctionId, ILogGroup>>>
  /** Null if the settings do without it. */
  readonly uploads: UploadService | null = null
  /** Null if the settings do without it. */
  readonly gateway: NetworkGateway | null = null
  /** Null behind private ingress. */
  readonly distribution: Distribution | null = null
  /** Null with a distribution. */
  readonly privateIngress: PrivateIngress | null = null
  private readonly config: Config
  private readonly assets: DeploymentAssets

  constructor(
    scope: Construct,
    id: string,
    { config, images, assets, toolTypes, builds, webAclArn, data, network, ingressNetwork, ...props }: ServiceStackProps,
  ) {
    super(scope, id, props)
    this.config = config
    this.assets = assets
    const storage = storageEnvironment(config, data)
    const sandboxes = new Sandboxes(this, 'Sandboxes', { config, images, executionRole: network.executionRole })
    const originSecret = new Secret(this, 'OriginSecret', {
      description: 'Cellblock: shared by the distribution and the API only',
      generateSecretString: { passwordLength: 48, excludePunctuation: true },
      removalPolicy: RemovalPolicy.DESTROY,
    })
    const site = createSiteBucket(this, data.accessLogs, assets.siteFolder)
    const { privateIngress } = config.api
    const siteObjects = [
      site.arnForObjects(`${PAGE_PREFIX}*`),
      ...(privateIngress === undefined ? [] : [site.arnForObjects(REFERENCE_KEY)]),
    ]
    const api: ApiParts = {
      environment: apiEnvironment(config, storage, { originSecretArn: originSecret.secretArn, siteBucket: site.bucketName, toolTypes }),
      access: apiAccess(data, { originSecretArn: originSecret.secretArn, siteObjects }),
    }
    const workers = this.addWorkers(privateIngress === undefined ? api : null, { data, network, sandboxes, storage, images })
    this.functions = mapValues(workers, (worker) => worker.function)
    this.logs = mapValues(workers, (worker) => worker.log)
    this.addTriggers(workers, data, sandboxes)
    if (data.networkKeys !== null) {
      const { secretArn } = data.networkKeys
      const task = { environment: gatewayEnvironment(storage, secretArn), access: gatewayAccess(data, secretArn) }
      this.gateway = new NetworkGateway(this, 'Gateway', { config, assets, builds, network, ...task })
    }
    if (privateIngress === undefined) {
      this.uploads = config.api.uploadService ? new UploadService(this, 'Uploads', { config, assets, builds, ...api }) : null
      this.distribution = this.addDistribution(workers, { site, originSecret: originSecret as ISecret, webAclArn })
    } else {
      const ingress = { settings: privateIngress, network: ingressNetwork ?? readIngressNetwork(this, privateIngress) }
      this.privateIngress = new PrivateIngress(this, 'Ingress', { config, assets, builds, ...api, ...ingress })
      this.output('Url', this.privateIngress.url, 'The base URL of the API')
      this.output(
        'LoadBalancerDomain',
        this.privateIngress.loadBalancer.loadBalancerDnsName,
        'Point the name of the API here, in a private zone',
      )
    }
    this.output('SiteBucket', site.bucketName, 'Scripts that the pages load')
    this.output('ModelsSecret', data.modelsSecretName, 'Put the keys of the models here')
  }

  private output(name: string, value: string, description: string): void {
    new CfnOutput(this, name, { value, description })
  }

  /** `api` null: tasks run the API. */
  private addWorkers(api: ApiParts | null, { data, network, sandboxes, storage, images }: WorkerParts): Workers {
    const { config } = this
    const place = { environment: placeEnvironment(config, { storage, network, sandboxes }) }
    const roleFor = (name: FunctionId, access: readonly IamAccess[]): Role =>
      new WorkerRole(this, `${name}-role`, { functionName: functionName(config.stage, name), access }).role
    const { reservedConcurrency } = config.api
    const reserved = config.concurrency.reserved === true ? workerFunctions(config.concurrency) : null
    if (reserved !== null)
      this.output(
        'ReservedWorkers',
        String(Object.values(reserved).reduce((sum, functions) => sum + functions)),
        'Reserved concurrency of the workers',
      )
    return {
      // A call within its tenant's share stays open for Lambda's maximum.
      ...(api === null
        ? {}
        : {
            api: this.add('api', {
              role: roleFor('api', api.access),
              environment: { ...api.environment, OPEN_CALLS: String(openCallsOf(config.api)) } satisfies Pick<ApiEnv, 'OPEN_CALLS'>,
              timeoutSeconds: 900,
              reservedConcurrency,
            }),
          }),
      chat: this.add('chat', {
        role: roleFor('chat', chatAccess(data)),
        environment: chatEnvironment(config, storage, data),
        timeoutSeconds: CHAT_FUNCTION_SECONDS,
        reservedConcurrency: reserved?.chat,
      }),
      run: this.add('run', {
        role: network.runRole,
        environment: runEnvironment(config, storage, network.toJsonString(images)),
        timeoutSeconds: 120,
        reservedConcurrency: reserved?.run,
        vpcPlacement: { vpc: network.vpc, subnets: network.runSubnets, securityGroup: network.runGroup },
      }),
      place: this.add('place', {
        ...place,
        role: roleFor('place', placeAccess(data, sandboxes.computeAccess)),
        // A step is one call to ECS, or the rows and messages of one refill.
        timeoutSeconds: 60,
        reservedConcurrency: reserved?.place,
      }),
      reconciler: this.add('reconciler', {
        ...place,
        role: roleFor('reconciler', reconcilerAccess(data, sandboxes.computeAccess)),
        timeoutSeconds: 120,
        reservedConcurrency: reserved?.reconciler,
      }),
    }
  }

  private add(name: FunctionId, props: Omit<WorkerFunctionProps, 'config' | 'name' | 'code'>): WorkerFunction {
    const { tools } = this.config
    // The chat worker runs the operator's tools.
    const code = this.assets.functionCode(name, name === 'chat' ? tools.folder : undefined)
    return new WorkerFunction(this, name, { ...props, code, config: this.config, name, hasAlias: name in RELEASED })
  }

  private addTriggers(workers: Workers, { queues }: DataStack, { clusterArn }: Sandboxes): void {
    const { concurrency, deployment, stage } = this.config
    consume(workers.chat.target, queues.turns.queue, { maxConcurrency: concurrency.chat })
    consume(workers.run.target, queues.executions.queue, { maxConcurrency: concurrency.run })
    consume(workers.place.target, queues.placements.queue, { maxConcurrency: concurrency.place, batchSize: PLACE_BATCH })
    new SandboxEvents(this, 'SandboxEvents', { reconciler: workers.reconciler.target, clusterArn })
    if (deployment.canaryMinutes === 0) return
    const aliases = Object.entries(workers).flatMap(([name, { alias }]) => (alias === null ? [] : [[name, alias] as const]))
    new Canary(this, 'Canary', { stage, minutes: deployment.canaryMinutes, aliases: Object.fromEntries(aliases), metric: metricsOf(stage) })
  }

  private addDistribution({ api }: Workers, parts: Pick<PublicEdgeProps, 'site' | 'originSecret' | 'webAclArn'>): Distribution {
    const target = api?.alias ?? api?.function
    if (target === undefined) throw new Error('A distribution needs the function of the API.')
    const functionUrl = target.addFunctionUrl({ authType: FunctionUrlAuthType.NONE, invokeMode: InvokeMode.RESPONSE_STREAM })
    const edge = new PublicEdge(this, 'Edge', {
      ...parts,
      functionUrl,
      customDomain: this.config.api.customDomain,
      corsOrigins: this.config.api.corsOrigins,
      uploads: this.uploads?.loadBalancer ?? null,
    })
    this.output('Url', edge.url, 'The base URL of the API')
    this.output('EdgeDomain', edge.distribution.distributionDomainName, 'Point the custom domain here')
    this.output('FunctionUrl', functionUrl.url, 'Refuses calls that do not come through the distribution; the doctor checks it')
    return edge.distribution
  }
}

const mapValues = <Source extends object, To>(record: Source, map: (value: NonNullable<Source[keyof Source]>) => To) =>
  Object.fromEntries(Object.entries(record).map(([key, value]) => [key, map(value as NonNullable<Source[keyof Source]>)])) as {
    readonly [Key in keyof Source]: To
  }
