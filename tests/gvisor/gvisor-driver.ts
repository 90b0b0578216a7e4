import Docker from 'dockerode'
import { ensureGvisor } from '../../scripts/setup/gvisor/ensure-gvisor.ts'
import { checkpointOptions } from '../../services/adapters/drivers/docker/host.ts'
import type { DockerDriverOptions } from '../../services/adapters/drivers/docker/docker-driver.ts'

/** The options of a driver whose sandboxes can be suspended. Builds and registers gVisor on a machine that has none: minutes. */
export async function gvisorOptions(): Promise<Pick<DockerDriverOptions, 'runtime' | 'checkpoints'>> {
  const runtime = await ensureGvisor({ mayInstall: true, dockerHost: undefined, env: process.env }, () => undefined)
  const engine = (await new Docker().info()) as Parameters<typeof checkpointOptions>[1]
  const checkpoints = checkpointOptions({ runtime, transport: 'unix' }, engine)
  if (checkpoints === undefined) throw new Error('The runtime keeps no processes')
  return { runtime, checkpoints }
}
