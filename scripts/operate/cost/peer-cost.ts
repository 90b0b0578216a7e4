import { PEER_COST, PEERS, type Peer, type PeerSession } from '../peer-prices.ts'
import { sandboxHour, sandboxSeconds } from './sandbox-cost.ts'
import type { Usage } from './usage.ts'

/** The same turns at each provider by its own rules, without model tokens and without the caller's own compute. */
export function costAtPeers(usage: Usage): Readonly<Record<Peer, number>> {
  const { run, hold } = sandboxSeconds({ ...usage, startSeconds: 0 })
  const session: PeerSession = { runSeconds: run, heldSeconds: run + hold, cores: usage.cores, memoryGb: usage.memoryGb }
  const containers = usage.turns / usage.turnsPerContainer
  return Object.fromEntries(PEERS.map((peer) => [peer, containers * PEER_COST[peer](session)])) as Record<Peer, number>
}

/**
 * Bare sandbox time: the turns in sequence in a running sandbox, without starts, pauses and requests, here and at each provider.
 */
export function costOfSandboxTime(usage: Usage): { readonly ours: number; readonly peers: Readonly<Record<Peer, number>> } {
  const runSeconds = usage.turns * usage.runSeconds
  const session: PeerSession = { runSeconds, heldSeconds: runSeconds, cores: usage.cores, memoryGb: usage.memoryGb }
  return {
    ours: (runSeconds * sandboxHour(usage)) / 3600,
    peers: Object.fromEntries(PEERS.map((peer) => [peer, PEER_COST[peer](session)])) as Record<Peer, number>,
  }
}
