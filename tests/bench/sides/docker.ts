import Docker from 'dockerode'

/** The label of every container that a benchmark starts itself, for their removal. */
export const BENCH_LABEL = `cellblock.bench=${process.pid}`

export const docker = new Docker()

/** Removes the remaining containers of this run. */
export async function removeBenchContainers(): Promise<void> {
  const left = await docker.listContainers({ all: true, filters: { label: [BENCH_LABEL] } })
  await Promise.allSettled(left.map(({ Id }) => docker.getContainer(Id).remove({ force: true })))
}
