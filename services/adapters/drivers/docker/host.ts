import Docker from 'dockerode'
import type { DriverHost } from '../driver-profile.ts'
import { createDockerDriver } from './docker-driver.ts'
import { createExecRelay } from './exec-relay.ts'
import { tiersOfHost } from './limits.ts'
import { removeOrphanedSandboxes, SERVER_LABEL } from './remove-orphaned-sandboxes.ts'

/** Where pip of a sandbox looks for wheels (runtime-image/supervisor/cellblock_supervisor/config.py). */
const WHEELHOUSE_FOLDER = '/opt/wheels'

/** The Docker engine of this machine. */
export function createDockerHost(): DriverHost {
  const docker = new Docker()
  return {
    openRelay: createExecRelay(docker),
    async open({ stage, supervisor, images, runtime, transport, preload, wheelhouse, onRun, now }) {
      const driver = createDockerDriver({
        ...{ docker, stage, supervisor, images, transport, onRun },
        runtime: runtime ?? undefined,
        labels: { [SERVER_LABEL]: String(process.pid) },
        preload: preload ?? undefined,
        ...(wheelhouse !== null && { readOnlyBinds: [`${wheelhouse}:${WHEELHOUSE_FOLDER}`] }),
      })
      const answers = Promise.all([docker.info(), removeOrphanedSandboxes(docker, stage, now)])
      // The check says best what is wrong with an engine that does not answer.
      answers.catch(() => undefined)
      await driver.check()
      const [info] = await answers
      return { driver, memoryTiers: tiersOfHost(info as { readonly MemTotal?: number }) }
    },
  }
}
