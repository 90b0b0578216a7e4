import type { Config } from '../../../infra/config.ts'
import type { AttachmentStore } from '../../../services/ports/attachment-store.ts'
import { fail, ok, warn, type Finding } from '../finding.ts'
import type { Deployed } from './deployed.ts'
import type { Ec2Api } from './ec2-api.ts'

const WHAT = 'Network gateway'
const RUNBOOK = 'docs/operations.md (network-gateway-down) says what to check.'

interface Parts {
  readonly config: Pick<Config, 'network'>
  readonly ec2: Pick<Ec2Api, 'peers'>
  readonly attachments: Pick<AttachmentStore, 'leader'>
  readonly deployed: Pick<Deployed, 'vpc' | 'peering'>
  readonly now: number
}

/** Whether the gateway serves, and whether the network of the sandboxes is connected to its network only; without a gateway, to none. */
export async function checkNetworkGateway({ config, ec2, attachments, deployed: { vpc, peering }, now }: Parts): Promise<Finding> {
  try {
    const others = vpc === null ? [] : (await ec2.peers(vpc)).filter((id) => id !== peering)
    if (others.length > 0)
      return fail(WHAT, `${others.join(', ')} connects the network of the sandboxes to another network. Delete this peering connection.`)
  } catch (error) {
    return warn(WHAT, `Peering connections could not be read (${String(error)}): these credentials need ec2:DescribeVpcPeeringConnections.`)
  }
  if (!config.network.gateway) return ok(WHAT, 'there is none (network.gateway is false), and the network of the sandboxes has no peer')
  const leader = await attachments.leader()
  if (leader === null) return fail(WHAT, `No gateway has started. ${RUNBOOK}`)
  const silentSeconds = Math.round((now - leader.expiresAt) / 1_000)
  return silentSeconds > 0
    ? fail(WHAT, `The gateway has had no lease for ${silentSeconds} s, so containers with a policy reach nothing. ${RUNBOOK}`)
    : ok(WHAT, 'it has the lease, and its network is the only peer of the network of the sandboxes')
}
