import { Stack } from 'aws-cdk-lib'
import { CfnCluster } from 'aws-cdk-lib/aws-ecs'
import type { IRole } from 'aws-cdk-lib/aws-iam'
import { Construct } from 'constructs'
import { MEMORY_TIERS, type MemoryTier } from '../../services/model/limits.ts'
import type { Config } from '../config.ts'
import type { ComputeAccess } from '../iam-policies.ts'
import { SandboxTaskDefinition } from './sandbox-task-definition.ts'

export interface SandboxesProps {
  readonly config: Config
  /** URIs by the names of the images. */
  readonly images: Readonly<Record<string, string>>
  readonly executionRole: IRole
}

/**
 * The cluster and the task definitions; an empty cluster costs nothing. They are in the stack of the worker that starts tasks: CloudFormation
 * refuses to change an export, such as a task definition revision, while another stack imports it.
 */
export class Sandboxes extends Construct {
  readonly clusterArn: string
  readonly clusterName: string
  readonly images: Readonly<Record<string, string>>
  /** ARN by image and tier. */
  readonly taskDefinitions: Readonly<Record<string, Partial<Record<MemoryTier, string>>>>
  readonly computeAccess: ComputeAccess

  constructor(scope: Construct, id: string, { config, images, executionRole }: SandboxesProps) {
    super(scope, id)
    const { spotPercent, tiers, architecture, diskGiB } = config.sandboxes
    const cluster = new CfnCluster(this, 'Cluster', {
      clusterName: `cellblock-${config.stage}`,
      capacityProviders: ['FARGATE', 'FARGATE_SPOT'],
      defaultCapacityProviderStrategy: [
        { capacityProvider: 'FARGATE', weight: 100 - spotPercent },
        { capacityProvider: 'FARGATE_SPOT', weight: spotPercent },
      ].filter(({ weight }) => weight > 0),
      clusterSettings: [{ name: 'containerInsights', value: 'disabled' }],
      configuration: { executeCommandConfiguration: { logging: 'NONE' } },
      // GuardDuty would add its agent to each task, an endpoint and a security group to the network, and names that the DNS firewall refuses.
      tags: [{ key: 'GuardDutyManaged', value: 'false' }],
    })
    this.clusterArn = cluster.attrArn
    this.clusterName = cluster.ref
    const { stage } = config
    const isInterruptible = spotPercent > 0
    const define = (imageName: string, image: string, tier: MemoryTier) =>
      new SandboxTaskDefinition(this, `Tier${tier}-${imageName}`, {
        stage,
        tier,
        imageName,
        image,
        architecture,
        diskGiB,
        vcpu: tiers[tier]?.vcpu,
        executionRole,
        isInterruptible,
      })
    const offered = MEMORY_TIERS.filter((tier) => tiers[tier] !== undefined)
    this.images = images
    this.taskDefinitions = Object.fromEntries(
      Object.entries(images).map(([name, image]) => [
        name,
        Object.fromEntries(offered.map((tier) => [tier, define(name, image, tier).arn])),
      ]),
    )
    this.computeAccess = this.accessToTasks(executionRole.roleArn)
  }

  private accessToTasks(pullRoleArn: string): ComputeAccess {
    const { clusterArn } = this
    const tasks = Stack.of(this).formatArn({ service: 'ecs', resource: 'task', resourceName: `${this.clusterName}/*` })
    const inCluster = { ArnEquals: { 'ecs:cluster': clusterArn } }
    return {
      start: [
        // ECS Exec would open a shell in a sandbox, so a start that requests it is denied.
        {
          actions: ['ecs:RunTask'],
          resources: Object.values(this.taskDefinitions).flatMap((byTier) => Object.values(byTier)),
          conditions: { ...inCluster, StringNotEqualsIfExists: { 'ecs:enable-execute-command': 'true' } },
        },
        { actions: ['ecs:TagResource'], resources: [tasks], conditions: { StringEquals: { 'ecs:CreateAction': 'RunTask' } } },
        {
          actions: ['iam:PassRole'],
          resources: [pullRoleArn],
          conditions: { StringEquals: { 'iam:PassedToService': 'ecs-tasks.amazonaws.com' } },
        },
      ],
      watch: [
        { actions: ['ecs:DescribeTasks', 'ecs:StopTask'], resources: [tasks], conditions: inCluster },
        { actions: ['ecs:ListTasks'], resources: ['*'], conditions: inCluster },
      ],
    }
  }
}
