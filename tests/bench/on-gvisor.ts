import { GVISOR_RUNTIME } from '../../scripts/setup/gvisor/ensure-gvisor.ts'
import { adjustHost, undoHostChange } from '../../scripts/setup/gvisor/host-settings.ts'
import type { CheckpointOptions } from '../../services/adapters/drivers/docker/checkpoints.ts'
import { checkpointOptions } from '../../services/adapters/drivers/docker/host.ts'
import type { BenchContext, BenchResult } from './bench.ts'
import { docker } from './sides/docker.ts'
import { startServer, type BenchServer } from './sides/server.ts'

const POOL = 1
const NOTHING: BenchResult = { figures: {}, ratios: {} }

/**
 * Measures a server whose sandboxes run on gVisor, with the setting of the host that `npm start -- --runtime gvisor` makes. Nothing is measured where the engine
 * does not have that runtime or the server may not use its checkpoints.
 */
export async function onGvisor(
  { image, say }: BenchContext,
  measure: (server: BenchServer, checkpoints: CheckpointOptions) => Promise<BenchResult>,
): Promise<BenchResult> {
  const engine = (await docker.info()) as Parameters<typeof checkpointOptions>[1]
  const checkpoints = checkpointOptions({ runtime: GVISOR_RUNTIME, transport: 'unix' }, engine)
  if (checkpoints === undefined) {
    say(`  not measured: the engine has no runtime ${GVISOR_RUNTIME}, or this user is not root`)
    return NOTHING
  }
  const change = await adjustHost()
  const server = await startServer({ image, poolSize: POOL, runtime: GVISOR_RUNTIME })
  try {
    await server.pool.waitFor(POOL)
    return await measure(server, checkpoints)
  } finally {
    await server.stop()
    await undoHostChange(change)
  }
}
