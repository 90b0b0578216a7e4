import type { DriverDeployment } from './driver-profile.ts'
import { FARGATE_DEPLOYMENT } from './fargate/deployment.ts'
import type { DEPLOYED_DRIVERS } from './registry.ts'

/** The part of the registry that calls the platforms. It is separate, because their clients would add to the bundle of every function. */
export const DEPLOYMENTS: Readonly<Record<(typeof DEPLOYED_DRIVERS)[number], DriverDeployment>> = {
  fargate: FARGATE_DEPLOYMENT,
}
