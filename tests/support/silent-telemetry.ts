import type { Telemetry } from '../../services/core/ports/telemetry.ts'

export const silentTelemetry: Telemetry = { emit: () => undefined }
