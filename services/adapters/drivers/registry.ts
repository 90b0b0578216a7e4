import type { DriverProfile } from './driver-profile.ts'
import { DOCKER_PROFILE } from './docker/profile.ts'
import { FARGATE_PROFILE } from './fargate/profile.ts'
import { MEMORY_PROFILE } from './memory/profile.ts'

/** Every platform that sandboxes run on. A new one adds its folder, an entry here, its configuration and its infrastructure. */
export const DRIVERS = {
  docker: DOCKER_PROFILE,
  fargate: FARGATE_PROFILE,
  memory: MEMORY_PROFILE,
} as const satisfies Record<string, DriverProfile>

/** The platforms of a server on one machine, values of its SANDBOX_DRIVER. `hosts.ts` opens them. */
export const LOCAL_DRIVERS = ['docker'] as const satisfies readonly (keyof typeof DRIVERS)[]

/** The platforms of a deployment, values of SANDBOX_DRIVER. `deployments.ts` creates their drivers. */
export const DEPLOYED_DRIVERS = ['fargate'] as const satisfies readonly (keyof typeof DRIVERS)[]
