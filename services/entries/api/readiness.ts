import type { Readiness } from '../../http/deps.ts'

const TIMEOUT_MS = 3_000

type Checks = Readonly<Record<string, () => Promise<void>>>

/** Checks all parts concurrently; a part that does not answer counts as not ready. Probes need no key, so those at the same time share a check. */
export function readinessOf(checks: Checks): () => Promise<Readiness> {
  let running: Promise<Readiness> | null = null
  return () =>
    (running ??= checkParts(checks).finally(() => {
      running = null
    }))
}

async function checkParts(checks: Checks): Promise<Readiness> {
  const parts = await Promise.all(Object.entries(checks).map(async ([name, check]) => [name, await checkPart(check)] as const))
  return { ok: parts.every(([, part]) => part.ok), parts: Object.fromEntries(parts) }
}

async function checkPart(check: () => Promise<void>): Promise<{ readonly ok: boolean; readonly detail?: string }> {
  const timeout = Promise.withResolvers<never>()
  const timer = setTimeout(() => timeout.reject(new Error('It does not answer')), TIMEOUT_MS)
  try {
    await Promise.race([check(), timeout.promise])
    return { ok: true }
  } catch (error) {
    return { ok: false, detail: error instanceof Error ? error.name : 'Error' }
  } finally {
    clearTimeout(timer)
  }
}
