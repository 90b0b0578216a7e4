import type { Container } from '../../../model/containers/container.ts'
import { hostsOf } from '../../../model/network/policy.ts'
import { networkVariables } from '../../../model/network/sandbox-variables.ts'
import { hasNetwork, placeholdersOf, policyOf } from '../../../model/network/secret.ts'
import type { SandboxSession } from '../../../model/sandboxes/sandbox.ts'
import { LinkError } from '../../../ports/sandbox-link.ts'
import type { StepDeps } from '../../deps.ts'
import { RefusedWorkError, SandboxUnreachableError } from '../stream/failures.ts'

/** A policy that changes more often while an execution starts counts as broken. */
const MAX_READS = 5

/**
 * Before code runs: makes the gateway enforce the policy of the container in this sandbox. Returns the variables with which programs use it; none without a
 * network. The row that the step has may be some seconds old, so it is read again before and after: the gateway never keeps a policy that was replaced.
 */
export async function openNetwork(deps: StepDeps, seen: Container, session: SandboxSession): Promise<Readonly<Record<string, string>>> {
  if (!hasNetwork(seen)) return {}
  const read = () => deps.table.containers.get(seen.tenant, seen.id)
  let container = await read()
  for (let reads = 0; reads < MAX_READS; reads++) {
    if (container === null || !hasNetwork(container)) return {}
    await enforce(deps, container, session)
    const after = await read()
    if (JSON.stringify(after?.network) === JSON.stringify(container.network))
      return { ...networkVariables(hostsOf(policyOf(container)), deps.network?.indexes), ...placeholdersOf(container) }
    container = after
  }
  throw new RefusedWorkError('The network policy changed all the time while the code was about to start. Run it again.')
}

async function enforce(deps: StepDeps, container: Container, session: SandboxSession): Promise<void> {
  if (deps.network === undefined) throw new RefusedWorkError('The container has a network policy and this server no network gateway.')
  try {
    await deps.network.enforcer.enforce(container, session)
  } catch (cause) {
    if (cause instanceof LinkError) throw new SandboxUnreachableError('The network could not be opened', { cause })
    const why = cause instanceof Error ? cause.message : String(cause)
    throw new RefusedWorkError(`The network of the container could not be opened: ${why}`, { cause })
  }
}
