import { NO_CHARGE, type DriverProfile } from '../driver-profile.ts'

/** The operator's own machine. */
export const DOCKER_PROFILE = {
  name: 'docker',
  capabilities: { addressKinds: ['unix', 'exec'], reportsStarts: false, startMs: 1_500 },
  ...NO_CHARGE,
} as const satisfies DriverProfile
