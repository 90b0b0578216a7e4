import type { Readiness } from '../api/deps.ts'

const ANSWER_WITHIN_MS = 2_000

/** Asks every part whether it answers; a part that is silent for two seconds does not. */
export function createReadiness(checks: Readonly<Record<string, () => Promise<void>>>): () => Promise<Readiness> {
  return async () => {
    const parts = await Promise.all(
      Object.entries(checks).map(async ([name, check]) => {
        const late = AbortSignal.timeout(ANSWER_WITHIN_MS)
        const silence = new Promise<never>((_, reject) => late.addEventListener('abort', () => reject(new Error('It does not answer.')), { once: true }))
        try {
          await Promise.race([check(), silence])
          return [name, { ok: true }] as const
        } catch (cause) {
          return [name, { ok: false, detail: cause instanceof Error ? cause.message : String(cause) }] as const
        }
      }),
    )
    return { ok: parts.every(([, part]) => part.ok), parts: Object.fromEntries(parts) }
  }
}
