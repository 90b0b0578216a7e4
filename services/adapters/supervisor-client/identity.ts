import type { Clock } from '../../ports/clock.ts'
import { SupervisorError } from '../../ports/supervisor.ts'
import { isSpokenProtocol, SUPERVISOR_PROTOCOL, type SandboxAddress, type SandboxSession } from '../../model/sandboxes/sandbox.ts'
import type { Identity } from './answers.ts'

/** A proof of identity is valid while its connection is probably still open. The socket in a sandbox's folder cannot be reassigned; an IP address can. */
const PROOF_MS: Record<SandboxAddress['kind'], number> = { unix: 600_000, exec: 600_000, tcp: 8_000 }
const MAX_PROOFS = 2_048

interface Proof {
  readonly address: string
  readonly bootNonce: string
  readonly validUntil: number
}

interface CachedIdentity {
  readonly identity: Identity
  readonly validUntil: number
}

export interface IdentityCheck {
  /** Another health check verified the sandbox; the session need not check again while that proof is valid. */
  note(address: SandboxAddress, identity: Identity): void
  /** Resolves when `/health` has verified the sandbox at the address; at once while an earlier proof is valid. Throws SupervisorError `wrong_sandbox`. */
  prove(session: SandboxSession, signal: AbortSignal): Promise<void>
  /** A request was answered: extends the proof. */
  renew(session: SandboxSession): void
  /** The connection failed: the next request verifies again. */
  forget(session: SandboxSession): void
}

export function createIdentityCheck(ask: (address: SandboxAddress, signal: AbortSignal) => Promise<Identity>, clock: Clock): IdentityCheck {
  const proofs = new Map<string, Proof>()
  const identities = new Map<string, CachedIdentity>()

  const evictOldest = (map: Map<string, unknown>): void => {
    if (map.size < MAX_PROOFS) return
    for (const oldest of map.keys()) {
      map.delete(oldest)
      break
    }
  }
  const remember = (session: SandboxSession, bootNonce: string): void => {
    proofs.delete(session.sandboxId)
    evictOldest(proofs)
    proofs.set(session.sandboxId, { address: nameOf(session.address), bootNonce, validUntil: clock.now() + PROOF_MS[session.address.kind] })
  }

  const takeIdentity = (address: SandboxAddress): Identity | null => {
    const cached = identities.get(nameOf(address))
    identities.delete(nameOf(address))
    return cached !== undefined && clock.now() < cached.validUntil ? cached.identity : null
  }

  return {
    note(address, identity) {
      identities.delete(nameOf(address))
      evictOldest(identities)
      identities.set(nameOf(address), { identity, validUntil: clock.now() + PROOF_MS[address.kind] })
    },
    async prove(session, signal) {
      const earlier = proofs.get(session.sandboxId)
      if (earlier && earlier.address === nameOf(session.address) && clock.now() < earlier.validUntil) return
      const { health, bootNonce } = (earlier === undefined ? takeIdentity(session.address) : null) ?? (await ask(session.address, signal))
      if (health.sandboxId !== session.sandboxId)
        throw new SupervisorError('wrong_sandbox', `Another sandbox lives at the address of ${session.sandboxId}; nothing was sent to it.`)
      if (!isSpokenProtocol(health.v))
        throw new SupervisorError(
          'wrong_sandbox',
          `Sandbox ${session.sandboxId} speaks protocol ${health.v}, this version speaks ${SUPERVISOR_PROTOCOL} and the one before.`,
        )
      if (earlier && earlier.bootNonce !== bootNonce)
        throw new SupervisorError('wrong_sandbox', `Sandbox ${session.sandboxId} was restarted; what ran in it is lost.`)
      remember(session, bootNonce)
    },
    renew(session) {
      const proof = proofs.get(session.sandboxId)
      if (proof && proof.address === nameOf(session.address))
        proofs.set(session.sandboxId, { ...proof, validUntil: clock.now() + PROOF_MS[session.address.kind] })
    },
    forget(session) {
      const proof = proofs.get(session.sandboxId)
      if (proof) proofs.set(session.sandboxId, { ...proof, validUntil: 0 })
    },
  }
}

const nameOf = (address: SandboxAddress): string => {
  switch (address.kind) {
    case 'unix':
      return address.socketPath
    case 'tcp':
      return `${address.host} ${address.port}`
    case 'exec':
      return address.containerName
  }
}
