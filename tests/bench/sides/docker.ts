import Docker from 'dockerode'

/** Marks every container that a bench starts by itself, so that it can take them away again. */
export const BENCH_LABEL = `cellblock.bench=${process.pid}`

export const docker = new Docker()

/** Removes what this run left behind: nothing when every side was stopped. */
export async function removeBenchContainers(): Promise<void> {
  const left = await docker.listContainers({ all: true, filters: { label: [BENCH_LABEL] } })
  await Promise.allSettled(left.map(({ Id }) => docker.getContainer(Id).remove({ force: true })))
}
