import type { Telemetry } from '../../services/ports/telemetry.ts'

export const silentTelemetry: Telemetry = { emit: () => undefined }
