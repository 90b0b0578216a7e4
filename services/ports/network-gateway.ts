import type { PackageIndexes } from '../model/network/sandbox-variables.ts'
import type { SecretCipher } from './secret-cipher.ts'
import type { NetworkEntry } from '../model/network/network-log.ts'
import type { NetworkRule } from '../model/network/rule.ts'
import type { Container } from '../model/containers/container.ts'
import type { SandboxSession } from '../model/sandboxes/sandbox.ts'

/** What the gateway enforces for one container. */
export interface NetworkAttachment {
  readonly tenant: string
  readonly containerId: string
  /** How the gateway signs its connections to the supervisor. */
  readonly session: SandboxSession
  /** Rules of the container with its presets expanded, and those of the tenant's ceiling: `decideRequest` takes both. */
  readonly rules: readonly NetworkRule[]
  readonly ceiling: readonly NetworkRule[]
  readonly deny: readonly string[]
  /** Bytes in both directions until the budget of the container or of the tenant is used; null without one. */
  readonly bytesLeft: number | null
  /** Shared by all containers of the tenant. */
  readonly limits: { readonly connections: number; readonly requestsPerSecond: number }
  readonly secrets: readonly NetworkSecret[]
}

/** `placeholder` is what code sees. It becomes `value` in headers of requests over HTTPS to these hosts (names or patterns of host.ts), and nowhere else. */
export interface NetworkSecret {
  readonly name: string
  readonly placeholder: string
  readonly hosts: readonly string[]
  readonly value: string
}

/** One request of user code, and whose it was. */
export interface NetworkRequestReport extends NetworkEntry {
  readonly tenant: string
  readonly containerId: string
}

export interface NetworkGateway {
  /** The deployment's certificate authority, PEM: its public part. */
  readonly caCertificate: () => Promise<string>
  /**
   * Idempotent per container; it replaces the policy of an attached container at once. Throws when the gateway cannot accept it: then code must not run with a
   * promise of network.
   */
  attach(attachment: NetworkAttachment): Promise<void>
  /** Ends every connection of the container. Idempotent. */
  detach(containerId: string): Promise<void>
}

/** How many bytes of the present UTC day a tenant has used. */
export interface NetworkUse {
  bytesToday(tenant: string): Promise<number>
}

/** Makes the gateway enforce what the rows say. In AWS the gateway reads them itself, so that no other process can read a secret. */
export interface NetworkEnforcer {
  /** The policy of this container in this sandbox, as its rows have it now. Throws when the gateway cannot enforce it: then code must not run. */
  enforce(container: Container, session: SandboxSession): Promise<void>
  /** Ends every connection of the container. Idempotent. */
  release(containerId: string): Promise<void>
}

/** What a server with networks has. A server without them refuses every policy but the empty one. */
export interface NetworkPorts {
  readonly enforcer: NetworkEnforcer
  /** A process that only accepts secrets need not be able to open them. */
  readonly cipher: Pick<SecretCipher, 'seal'>
  readonly indexes: PackageIndexes
  /** Stores the reports of requests that have ended. Absent where the gateway stores them itself, within a second. Never rejects. */
  readonly settle?: () => Promise<void>
}
