import type Docker from 'dockerode'

/** Names the server process that started a sandbox. */
export const SERVER_LABEL = 'cellblock.server-pid'
/** A server that was killed may be started again on its data folder and go on with its sandboxes; after this long nobody does, milliseconds. */
const ABANDONED_MS = 15 * 60_000

/** Removes sandboxes that killed servers left on this engine. Servers that still run keep theirs, and so does this one's data folder. */
export async function removeOrphanedSandboxes(docker: Docker, ownStage: string, now: number): Promise<number> {
  const containers = await docker.listContainers({ all: true, filters: { label: [SERVER_LABEL] } })
  const strays = containers.filter(
    ({ Labels, Created }) =>
      Labels['cellblock.stage'] !== ownStage && now - Created * 1000 > ABANDONED_MS && !isAlive(Number(Labels[SERVER_LABEL])),
  )
  await Promise.allSettled(strays.map(({ Id }) => docker.getContainer(Id).remove({ force: true, v: true })))
  return strays.length
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM'
  }
}
