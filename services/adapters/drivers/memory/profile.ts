import { NO_CHARGE, type DriverProfile } from '../driver-profile.ts'

export const MEMORY_PROFILE = {
  name: 'memory',
  capabilities: { addressKinds: ['unix', 'tcp', 'exec'], reportsStarts: false, startMs: 0 },
  ...NO_CHARGE,
} as const satisfies DriverProfile
