import type { DriverProfile } from '../driver-profile.ts'

export const MEMORY_PROFILE: DriverProfile = {
  name: 'memory',
  capabilities: { resize: false, diskQuota: false, addressKinds: ['unix', 'tcp', 'exec'], reportsStarts: false, startMs: 0 },
  costPerSecond: () => 0,
}
