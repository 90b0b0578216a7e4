/** One wide event per request and per job: ids, tenant, outcome, phases in ms. Never code, outputs, prompts, keys or signed URLs. */
export interface Telemetry {
  emit(event: WideEvent): void
}
export type WideEvent = { readonly event: string; readonly outcome: string } & Readonly<Record<string, string | number | boolean | null>>
export const silentTelemetry: Telemetry = { emit: () => undefined }
