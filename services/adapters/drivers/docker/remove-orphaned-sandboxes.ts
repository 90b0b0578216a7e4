import type Docker from 'dockerode'
import { SANDBOX_LABEL } from './container-options.ts'
import { defaultControlRoot, removeControlFolder } from './control-folder.ts'
import { removeContainer } from './remove-container.ts'

/** Names the server process that started a sandbox. */
export const SERVER_LABEL = 'cellblock.server-pid'
/** A restarted server may use the sandboxes of a killed one on the same data folder. After this time they are orphans, milliseconds. */
const ABANDONED_MS = 15 * 60_000

/** Removes sandboxes of killed servers from this engine, except those of running servers and of this server's data folder. */
export async function removeOrphanedSandboxes(docker: Docker, ownStage: string, now: number): Promise<number> {
  const containers = await docker.listContainers({ all: true, filters: { label: [SERVER_LABEL] } })
  const orphans = containers.filter(
    ({ Labels, Created }) =>
      Labels['cellblock.stage'] !== ownStage && now - Created * 1000 > ABANDONED_MS && !isAlive(Number(Labels[SERVER_LABEL])),
  )
  await Promise.allSettled(
    orphans.map(async ({ Id, Labels }) => {
      await removeContainer(docker.getContainer(Id))
      const sandboxId = Labels[SANDBOX_LABEL]
      if (sandboxId !== undefined) await removeControlFolder(defaultControlRoot(), sandboxId)
    }),
  )
  return orphans.length
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM'
  }
}
