import type { Container } from '../../model/containers/container.ts'
import { ID_PREFIXES } from '../../model/ids.ts'

/**
 * Ids of sandboxes are parts of host names, so they have letters and digits only: the ids of the container and of its tenant without their
 * prefixes. A signed URL of a file contains nothing else that names the tenant.
 */
export const sandboxIdOf = ({ id, tenant }: Pick<Container, 'id' | 'tenant'>): string =>
  id.slice(ID_PREFIXES.container.length) + tenant.slice(ID_PREFIXES.tenant.length)

interface SandboxName {
  readonly tenant: string
  readonly containerId: string
}

/** Null for text that is no id of a sandbox. */
export function parseSandboxId(sandboxId: string): SandboxName | null {
  const parts = /^([0-9a-z]{26})([0-9a-z]{20,30})$/.exec(sandboxId)
  return parts === null ? null : { containerId: `${ID_PREFIXES.container}${parts[1]}`, tenant: `${ID_PREFIXES.tenant}${parts[2]}` }
}
