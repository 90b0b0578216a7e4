import type { DriverProfile } from '../driver-profile.ts'

export const MEMORY_PROFILE: DriverProfile = {
  name: 'memory',
  capabilities: { addressKinds: ['unix', 'tcp', 'exec'], reportsStarts: false, startMs: 0 },
  costPerSecond: () => 0,
}
