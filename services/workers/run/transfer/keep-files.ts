import type { Container } from '../../../model/containers/container.ts'
import type { Lost } from '../../../model/executions/execution.ts'
import { sandboxPathOf } from '../../../model/files/file.ts'
import type { SandboxSession } from '../../../model/sandboxes/sandbox.ts'
import { LinkError } from '../../../ports/sandbox-link.ts'
import { SupervisorError } from '../../../ports/supervisor.ts'
import type { StepDeps } from '../../deps.ts'
import { lostFile, truncateLosses } from './losses.ts'
import { collectFiles } from './collect-files.ts'

const WHEN = 'It was in /mnt/data when the container went to sleep, and was not kept'

/**
 * Before the sandbox of an idle container is released: collects what changed since the last collection, such as the files of a program that ran on, ends
 * the rows of files that are gone, and returns what is in `/mnt/data` and cannot be kept. The next call names it, because from then on it is missing. `keepsLinks`: the snapshot of the variables
 * is saved, which has the symbolic links.
 */
export async function keepFiles(
  deps: StepDeps,
  container: Container,
  { session, keepsLinks, signal }: { readonly session: SandboxSession; readonly keepsLinks: boolean; readonly signal: AbortSignal },
): Promise<readonly Lost[]> {
  const { tenant, id } = container
  try {
    const { files, skipped } = await deps.supervisor.listFiles(session)
    const stored = new Map<string, string | null>()
    for (const file of await deps.table.files.all(tenant, id))
      if (file.isCurrent && file.state === 'stored') stored.set(sandboxPathOf(file), file.sha256)
    // The bytes of an upload by address have no known hash before they come back from a sandbox.
    const changed = files.filter(({ path, sha256 }) => !stored.has(path) || (stored.get(path) ?? sha256) !== sha256)
    const { filesPerExecution: maxFiles } = await deps.limits.of(tenant)
    // Saving the variables can remove files, such as the journal of a database. With an old journal the database is damaged.
    const present = new Set(files.map(({ path }) => path))
    const deleted = [...stored.keys()].filter((path) => !present.has(path))
    const envelope = { files: changed.map((file) => ({ ...file, change: 'modified' as const })), deleted, skipped }
    const { lost } = await collectFiles(deps, { session, owner: container, executionId: null, maxFiles, envelope, signal })
    const missing = skipped
      .filter(({ reason }) => !(keepsLinks && reason === 'symlink'))
      .map(({ path, reason }) => ({ what: lostFile(path), reason }))
    return truncateLosses([...lost, ...missing].map(({ what, reason }) => ({ what, reason: `${WHEN}: ${reason}` })))
  } catch (cause) {
    signal.throwIfAborted()
    // A sandbox that does not answer is released anyway. What was collected after each execution is kept.
    if (cause instanceof LinkError || cause instanceof SupervisorError) return []
    throw cause
  }
}
