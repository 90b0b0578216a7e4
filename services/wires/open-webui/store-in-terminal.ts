import { syncSandbox } from '../../operations/files/sandbox-input.ts'
import { StagedFiles } from '../../operations/files/staged-files.ts'
import type { Call } from '../../http/route.ts'
import { isActive } from '../../http/sandbox-file.ts'
import type { Terminal } from './terminal.ts'

/** Brings the files that `stage` adds to their paths, and to the programs that run. Throws ServiceError. */
export async function storeInTerminal<T>(
  call: Call,
  { container, context }: Terminal,
  stage: (staged: StagedFiles) => Promise<T>,
): Promise<T> {
  const staged = new StagedFiles(call.deps, container)
  try {
    const answer = await stage(staged)
    await staged.keep(context)
    // The sandbox itself has written any other file.
    if (isActive(container) && staged.paths.some(({ stored }) => stored !== null)) await syncSandbox(context, container.id)
    return answer
  } finally {
    await staged.close()
  }
}
