import { randomInt } from 'node:crypto'
import type Docker from 'dockerode'
import { DriverError, type SandboxSpec } from '../../../ports/sandbox-driver.ts'
import { containerOptions, WORKER_UID_LABEL, type ContainerPlan } from './container-options.ts'

/** The range that the supervisor accepts. It leaves out the UIDs of the image and of the supervisor's helpers. */
export const FIRST_UID = 20_000
export const END_UID = 60_000
const MAX_ATTEMPTS = 10

const randomUid = (): number => randomInt(FIRST_UID, END_UID)

/**
 * Creates the container with a worker UID that no other sandbox of the engine has, whichever server started it. The kernel counts resources per UID
 * of the host: two sandboxes with one UID could exhaust each other's and signal through the counters. Of two containers that chose the same UID at
 * once, at least one is removed again before it starts.
 */
export async function createSandboxContainer(
  docker: Docker,
  spec: SandboxSpec,
  { plan, chooseUid = randomUid }: { readonly plan: Omit<ContainerPlan, 'workerUid'>; readonly chooseUid?: () => number },
): Promise<void> {
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    const workerUid = chooseUid()
    const container = await docker.createContainer(containerOptions(spec, { ...plan, workerUid }))
    const sameUid = await docker.listContainers({ all: true, filters: { label: [`${WORKER_UID_LABEL}=${workerUid}`] } })
    if (sameUid.length <= 1) return
    await container.remove({ force: true, v: true })
  }
  throw new DriverError('unavailable', `No free worker UID was found in ${MAX_ATTEMPTS} attempts. Remove stopped sandboxes of this engine.`)
}
