import type { SandboxLink } from '../../core/ports/sandbox-link.ts'
import type { SandboxAddress } from '../../core/sandboxes/sandbox.ts'
import { createExecLink, type OpenRelay } from './exec-link.ts'
import { createTcpLink } from './tcp-link.ts'
import { createUnixLink } from './unix-link.ts'

/** The link for every kind of address. Without `openRelay` an `exec` address is a configuration fault and throws. */
export function createLink(options: { readonly openRelay?: OpenRelay } = {}): SandboxLink {
  const links: Record<SandboxAddress['kind'], SandboxLink> = {
    unix: createUnixLink(),
    tcp: createTcpLink(),
    exec: createExecLink(options.openRelay ?? (() => Promise.reject(new Error('This process has no relay into containers.')))),
  }
  return {
    request: (address, request, signal) => links[address.kind].request(address, request, signal),
    async close(address) {
      if (address) return links[address.kind].close(address)
      await Promise.all(Object.values(links).map((link) => link.close()))
    },
  }
}
