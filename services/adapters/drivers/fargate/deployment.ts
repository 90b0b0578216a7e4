import { ECSClient } from '@aws-sdk/client-ecs'
import type { DriverDeployment } from '../driver-profile.ts'
import { fargateConfigFromEnv } from './config.ts'
import { createFargateDriver } from './fargate-driver.ts'
import { readTaskEvent } from './task-event.ts'

export const FARGATE_DEPLOYMENT: DriverDeployment = {
  createDriver(images) {
    const config = fargateConfigFromEnv()
    return createFargateDriver({
      ecs: new ECSClient({ region: config.AWS_REGION }),
      cluster: config.CLUSTER_ARN,
      images,
      taskDefinitions: config.TASK_DEFINITIONS,
      subnets: config.SUBNET_IDS,
      securityGroups: config.SECURITY_GROUP_IDS,
    })
  },
  readEvent: readTaskEvent,
}
