import { LinkError, type SandboxLink } from '../../ports/sandbox-link.ts'
import type { SandboxAddress } from '../../model/sandboxes/sandbox.ts'
import { createExecLink, type OpenRelay } from './exec-link.ts'
import { createTcpLink } from './tcp-link.ts'
import { createUnixLink } from './unix-link.ts'

const KINDS: readonly SandboxAddress['kind'][] = ['unix', 'tcp', 'exec']

/**
 * The link for these kinds of addresses; for every kind without `kinds`. An address of another kind, as a row of another driver may have it,
 * counts as unreachable. Without `openRelay` an `exec` address is a configuration fault and throws.
 */
export function createSandboxLink(
  options: { readonly kinds?: readonly SandboxAddress['kind'][]; readonly openRelay?: OpenRelay } = {},
): SandboxLink {
  const { kinds = KINDS, openRelay = () => Promise.reject(new Error('This process has no relay into containers.')) } = options
  const makers: Record<SandboxAddress['kind'], () => SandboxLink> = {
    unix: createUnixLink,
    tcp: createTcpLink,
    exec: () => createExecLink(openRelay),
  }
  const links = new Map(kinds.map((kind) => [kind, makers[kind]()]))
  const linkOf = ({ kind }: SandboxAddress): SandboxLink => {
    const link = links.get(kind)
    if (link === undefined) throw new LinkError('refused', `The driver of this process has no ${kind} addresses.`)
    return link
  }
  return {
    request: async (address, request, signal) => linkOf(address).request(address, request, signal),
    upgrade: async (address, request, signal) => linkOf(address).upgrade(address, request, signal),
    async close(address) {
      if (address) return links.get(address.kind)?.close(address)
      await Promise.all([...links.values()].map((link) => link.close()))
    },
  }
}
