import { LIMITS } from '../../../model/limits.ts'
import type { ByteStream } from '../../../model/byte-stream.ts'
import { LinkError } from '../../../ports/sandbox-link.ts'
import { SupervisorError, type NamespaceBudget, type NamespaceUsage, type SupervisorErrorCode } from '../../../ports/supervisor.ts'
import type { RunDeps } from '../../deps.ts'
import type { NamespaceTransfer } from './namespace-budget.ts'

export type Saved = ({ readonly kind: 'saved'; readonly bytes: number } | { readonly kind: 'lost'; readonly why: string }) & {
  /** As the sandbox reports it; the elapsed time for a sandbox that reports none. */
  readonly usage: NamespaceUsage
}

/** Maximum time of saving a namespace, milliseconds, because executions wait for it. A slower one is not saved. */
const SAVE_MS = 90_000
/** The kernel's part of that time. A variable that uses half of it is abandoned, which leaves time for the others. */
const KERNEL_MS = 60_000
/** Margin for names and frames, bytes; the supervisor counts the variables only. */
const MAX_BYTES = LIMITS.maxSnapshotBytes + 64 * 1024 * 1024

class TooBig extends Error {}

/**
 * Streams a sandbox's variables into an object without reading them. `lost` when the sandbox cannot save them; throws when storage fails or the
 * sandbox is busy, so that a retry may succeed. The kernel is not affected by a reader that disconnects early.
 */
export async function saveVariables(
  deps: Pick<RunDeps, 'objects' | 'supervisor' | 'clock'>,
  { session, objectKey, budget, signal }: NamespaceTransfer & { readonly objectKey: string },
): Promise<Saved> {
  const late = AbortSignal.timeout(SAVE_MS)
  const done = new AbortController()
  let failure: unknown = null
  const startedAt = deps.clock.now()
  let reported: () => NamespaceUsage | null = () => null
  const usage = (): NamespaceUsage => reported() ?? { runMs: deps.clock.now() - startedAt, cpuMs: 0 }
  async function* variables(): ByteStream {
    let bytes = 0
    try {
      const snapshot = await deps.supervisor.snapshot(session, withinSave(budget), AbortSignal.any([signal, late, done.signal]))
      reported = snapshot.usage
      for await (const chunk of snapshot.body) {
        bytes += chunk.byteLength
        if (bytes > MAX_BYTES) throw new TooBig()
        yield chunk
      }
    } catch (cause) {
      failure = cause
      throw cause
    }
  }
  try {
    const { bytes } = await deps.objects.put(objectKey, variables(), { contentType: 'application/octet-stream' })
    signal.throwIfAborted()
    return { kind: 'saved', bytes, usage: usage() }
  } catch (cause) {
    signal.throwIfAborted()
    const why = late.aborted ? `Saving them took more than ${SAVE_MS / 1000} seconds.` : whyLost(failure)
    if (why === null) throw cause
    return { kind: 'lost', why, usage: usage() }
  } finally {
    done.abort()
  }
}

const withinSave = (budget: NamespaceBudget): NamespaceBudget => ({ ...budget, timeoutMs: Math.min(budget.timeoutMs, KERNEL_MS) })

const GONE: ReadonlySet<SupervisorErrorCode> = new Set(['wrong_sandbox', 'not_found', 'unavailable', 'bad_request', 'protocol'])

/** Null when a retry may succeed. */
function whyLost(failure: unknown): string | null {
  if (failure instanceof TooBig) return `They take more than ${LIMITS.maxSnapshotBytes} bytes, so they were not saved.`
  if (failure instanceof LinkError) return 'The sandbox that held them ended before they could be saved.'
  if (failure instanceof SupervisorError && GONE.has(failure.code)) return 'The sandbox that held them could not save them.'
  return null
}
