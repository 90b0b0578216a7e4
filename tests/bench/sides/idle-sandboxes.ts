import { sandboxPssMegabytes } from './memory.ts'
import { startServer } from './server.ts'

/** The number of concurrent sandboxes in the full run. Shared memory is divided among them, so one alone would count more. */
export const SIDE_BY_SIDE = 8

/** Proportional memory of each of `sandboxes` idle warm sandboxes of an image, MB; empty without the rights to read it. */
export async function idleSandboxMegabytes(image: string, sandboxes: number): Promise<readonly number[]> {
  const server = await startServer({ image, poolSize: sandboxes })
  try {
    const sizes = await Promise.all((await server.pool.waitFor(sandboxes)).map(sandboxPssMegabytes))
    return sizes.filter((size) => size !== null)
  } finally {
    await server.stop()
  }
}
