import { Duration } from 'aws-cdk-lib'
import { Peer, Port, SecurityGroup, SubnetType } from 'aws-cdk-lib/aws-ec2'
import { ApplicationLoadBalancer, ApplicationProtocol, type ApplicationTargetGroup } from 'aws-cdk-lib/aws-elasticloadbalancingv2'
import { Construct } from 'constructs'
import { HEALTH_PATH } from '../../services/http/origin/config.ts'
import type { Config } from '../config.ts'
import { API_PORT, createApiTask, type ApiTaskProps } from './api-task.ts'
import { createEgressNetwork, createEgressService } from './egress-service.ts'

/**
 * A task's CPU units and memory. Files stream through. JSON with inline files is held as a whole: the bodies in flight have a budget of 288 MiB
 * (LIMITS.maxRequestBytesInFlight), four of the largest. With these the process had 1,340 MiB at most (`tests/aws/upload-memory.test.ts`).
 */
const UPLOAD_TASK = { cpu: 256, memoryMiB: 2048 } as const
const MAX_TASKS = 3
const BUSY_PERCENT = 60

export interface UploadServiceProps extends Omit<ApiTaskProps, 'name' | 'size'> {
  readonly config: Pick<Config, 'stage' | 'retention' | 'network'>
}

/**
 * The API in one Fargate task, for request bodies that are too large for a function. CloudFront reaches its internal load balancer by a VPC
 * origin. It has a separate network: no sandbox shares a network, a cluster or a role with it.
 */
export class UploadService extends Construct {
  readonly loadBalancer: ApplicationLoadBalancer
  readonly targets: ApplicationTargetGroup

  constructor(scope: Construct, id: string, props: UploadServiceProps) {
    super(scope, id)
    const { config } = props
    const vpc = createEgressNetwork(this, { cidr: '10.89.0.0/24', subnetMask: 26, zoneIds: config.network.zoneIds })
    const balancerGroup = new SecurityGroup(this, 'BalancerGroup', {
      vpc,
      description: 'Load balancer of the upload service: reached by CloudFront, reaches the task',
      allowAllOutbound: false,
    })
    const taskGroup = new SecurityGroup(this, 'TaskGroup', {
      vpc,
      description: 'Upload service: reached by its load balancer, reaches AWS over HTTPS',
      allowAllOutbound: false,
    })
    // The load balancer is internal. CloudFront's security group in this network exists only after the origin, so no rule can name it.
    balancerGroup.addIngressRule(Peer.anyIpv4(), Port.tcp(80), 'CloudFront, by the VPC origin')
    balancerGroup.addEgressRule(taskGroup, Port.tcp(API_PORT), 'the task')
    taskGroup.addIngressRule(balancerGroup, Port.tcp(API_PORT), 'the load balancer')
    taskGroup.addEgressRule(Peer.anyIpv4(), Port.tcp(443), 'table, bucket, queues, image, logs')

    const service = createEgressService(this, {
      config,
      name: 'uploads',
      vpc,
      taskDefinition: createApiTask(this, { ...props, name: 'uploads', size: UPLOAD_TASK }),
      group: taskGroup,
    })
    const scaling = service.autoScaleTaskCount({ minCapacity: 1, maxCapacity: MAX_TASKS })
    // Lent memory is not returned at once, so a task goes after ten minutes without need.
    const calm = { targetUtilizationPercent: BUSY_PERCENT, scaleInCooldown: Duration.minutes(10) }
    scaling.scaleOnCpuUtilization('BusyProcessor', calm)
    scaling.scaleOnMemoryUtilization('BusyMemory', calm)
    this.loadBalancer = new ApplicationLoadBalancer(this, 'Balancer', {
      vpc,
      internetFacing: false,
      vpcSubnets: { subnetType: SubnetType.PUBLIC },
      securityGroup: balancerGroup,
      idleTimeout: Duration.seconds(300),
      dropInvalidHeaderFields: true,
    })
    this.targets = this.loadBalancer
      .addListener('Http', { port: 80, protocol: ApplicationProtocol.HTTP, open: false })
      .addTargets('Tasks', {
        port: API_PORT,
        protocol: ApplicationProtocol.HTTP,
        targets: [service],
        healthCheck: { path: HEALTH_PATH, interval: Duration.seconds(15), healthyThresholdCount: 2 },
        deregistrationDelay: Duration.seconds(120),
      })
  }
}
