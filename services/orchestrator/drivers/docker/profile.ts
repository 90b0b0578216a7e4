import type { DriverProfile } from '../driver-profile.ts'

export const DOCKER_PROFILE: DriverProfile = {
  name: 'docker',
  capabilities: { addressKinds: ['unix', 'exec'], reportsStarts: false, startMs: 1_500 },
  // The operator's own machine.
  costPerSecond: () => 0,
}
