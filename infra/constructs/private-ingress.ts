import { Duration, Fn } from 'aws-cdk-lib'
import { Certificate } from 'aws-cdk-lib/aws-certificatemanager'
import { Peer, Port, SecurityGroup, Subnet, Vpc, type ISubnet, type IVpc } from 'aws-cdk-lib/aws-ec2'
import { type CfnService, Cluster, FargateService, type ICluster } from 'aws-cdk-lib/aws-ecs'
import {
  ApplicationLoadBalancer,
  ApplicationProtocol,
  ListenerAction,
  ListenerCondition,
  SslPolicy,
  type ApplicationTargetGroup,
} from 'aws-cdk-lib/aws-elasticloadbalancingv2'
import { CfnWebACLAssociation } from 'aws-cdk-lib/aws-wafv2'
import { Construct } from 'constructs'
import { HEALTH_PATH } from '../../services/http/origin/config.ts'
import type { Config, PrivateIngressSettings } from '../config.ts'
import { API_PORT, createApiTask, type ApiTaskProps } from './api-task.ts'

/** A task's CPU units and memory. Node uses one core; several requests with inline files of 50 MB are held as a whole. */
export const API_TASK = { cpu: 512, memoryMiB: 2048 } as const
const BUSY_CPU_PERCENT = 60

/** A network that clients reach, with subnets in two availability zones at least. */
export interface IngressNetwork {
  readonly vpc: IVpc
  readonly subnets: ISubnet[]
}

export interface PrivateIngressProps extends Omit<ApiTaskProps, 'name' | 'size'> {
  readonly config: Pick<Config, 'stage' | 'retention'>
  readonly settings: PrivateIngressSettings
  readonly network: IngressNetwork
}

/** What the load balancer answers to a request for another name, in the error envelope of the API. */
const UNKNOWN_HOST = JSON.stringify({
  error: {
    message: 'This server does not answer for this host. Use the name that its operator gave you.',
    type: 'invalid_request_error',
    code: 'unknown_host',
    param: null,
  },
})

/**
 * The API behind an internal load balancer, in tasks: a function behind a load balancer takes 1 MB and does not stream. No part of it has a public address.
 */
export class PrivateIngress extends Construct {
  readonly loadBalancer: ApplicationLoadBalancer
  readonly targets: ApplicationTargetGroup
  readonly url: string

  constructor(scope: Construct, id: string, { settings, network: { vpc, subnets }, ...task }: PrivateIngressProps) {
    super(scope, id)
    const { stage } = task.config
    const balancerGroup = new SecurityGroup(this, 'BalancerGroup', {
      vpc,
      description: 'Load balancer of the API: reached by clients, reaches the tasks',
      allowAllOutbound: false,
    })
    const taskGroup = new SecurityGroup(this, 'TaskGroup', {
      vpc,
      description: 'Tasks of the API: reached by their load balancer, reach AWS over HTTPS',
      allowAllOutbound: false,
    })
    for (const range of settings.clientCidrs) balancerGroup.addIngressRule(Peer.ipv4(range), Port.tcp(443), 'clients')
    balancerGroup.addEgressRule(taskGroup, Port.tcp(API_PORT), 'the tasks')
    taskGroup.addIngressRule(balancerGroup, Port.tcp(API_PORT), 'the load balancer')
    taskGroup.addEgressRule(Peer.anyIpv4(), Port.tcp(443), 'table, bucket, queues, secret, image, logs')
    const service = new FargateService(this, 'Service', {
      cluster: new Cluster(this, 'Cluster', { vpc, clusterName: `cellblock-${stage}-api` }) as ICluster,
      taskDefinition: createApiTask(this, { ...task, name: 'api', size: API_TASK }),
      minHealthyPercent: 100,
      maxHealthyPercent: 200,
      circuitBreaker: { rollback: true },
      assignPublicIp: false,
      vpcSubnets: { subnets },
      securityGroups: [taskGroup],
    })
    // A deployment must not undo what scaling has decided.
    const resource = service.node.defaultChild as CfnService
    resource.addPropertyDeletionOverride('DesiredCount')
    service
      .autoScaleTaskCount({ minCapacity: settings.tasks, maxCapacity: settings.maxTasks })
      .scaleOnCpuUtilization('Busy', { targetUtilizationPercent: BUSY_CPU_PERCENT, scaleInCooldown: Duration.minutes(5) })
    this.loadBalancer = new ApplicationLoadBalancer(this, 'Balancer', {
      vpc,
      internetFacing: false,
      vpcSubnets: { subnets },
      securityGroup: balancerGroup,
      idleTimeout: Duration.seconds(300),
      dropInvalidHeaderFields: true,
    })
    this.targets = this.listen(settings).addTargets('Tasks', {
      priority: 1,
      conditions: [ListenerCondition.hostHeaders([settings.host])],
      port: API_PORT,
      protocol: ApplicationProtocol.HTTP,
      targets: [service],
      healthCheck: { path: HEALTH_PATH, interval: Duration.seconds(15), healthyThresholdCount: 2 },
      deregistrationDelay: Duration.seconds(120),
    })
    if (settings.webAclArn !== undefined)
      new CfnWebACLAssociation(this, 'Firewall', { resourceArn: this.loadBalancer.loadBalancerArn, webAclArn: settings.webAclArn })
    this.url = `https://${settings.host}`
  }

  /** TLS only; there is no listener on port 80. */
  private listen({ certificateArn }: PrivateIngressSettings) {
    return this.loadBalancer.addListener('Https', {
      port: 443,
      protocol: ApplicationProtocol.HTTPS,
      sslPolicy: SslPolicy.RECOMMENDED_TLS,
      certificates: [Certificate.fromCertificateArn(this, 'Certificate', certificateArn)],
      open: false,
      defaultAction: ListenerAction.fixedResponse(421, { contentType: 'application/json', messageBody: UNKNOWN_HOST }),
    })
  }
}

/** The network that the settings name. Throws an Error if they name none. */
export function readIngressNetwork(scope: Construct, { vpcId, subnetIds }: PrivateIngressSettings): IngressNetwork {
  if (vpcId === undefined || subnetIds === undefined)
    throw new Error('cellblock.api.privateIngress needs vpcId and subnetIds, or the construct its property ingressNetwork.')
  const vpc = Vpc.fromVpcAttributes(scope, 'IngressVpc', {
    vpcId,
    availabilityZones: subnetIds.map((_, index) => Fn.select(index, Fn.getAzs())),
  })
  return { vpc, subnets: subnetIds.map((subnetId) => Subnet.fromSubnetId(scope, `Ingress-${subnetId}`, subnetId)) }
}
