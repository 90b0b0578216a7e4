import { resolve } from 'node:path'
import * as z from 'zod'
import type { PrivateHost } from '../../adapters/gateway/messages.ts'
import { privateHostList } from '../../adapters/gateway/private-host-list.ts'
import { normalizeHost } from '../../model/network/host.ts'
import type { PackageIndexes } from '../../model/network/sandbox-variables.ts'

/** Programs of a sandbox print it, and the gateway serves the ports 443 and 80 only. */
const indexAddress = z.string().refine((text) => {
  const url = URL.canParse(text) ? new URL(text) : null
  return url?.protocol === 'https:' && url.port === '' && url.username === '' && normalizeHost(url.hostname) === url.hostname
}, 'must be an https address of a host, without a port and a password, such as https://pypi.example.com/simple')

export const NETWORK_VARIABLES = {
  /** Whether containers may get a network policy. */
  CELLBLOCK_NETWORK: z.enum(['on', 'off'], 'must be one of on, off').default('off'),
  /** Hosts that containers may reach at private addresses: `name`, or `name=address:port`, which is not resolved. */
  CELLBLOCK_NETWORK_PRIVATE_HOSTS: privateHostList.default({}),
  /** A file of certificates, PEM, that the network gateway trusts besides those of the system. */
  CELLBLOCK_NETWORK_CA: z.string().min(1).optional(),
  /** Where pip and npm of a container look for packages, if its policy allows that host. */
  CELLBLOCK_NETWORK_PIP_INDEX: indexAddress.optional(),
  CELLBLOCK_NETWORK_NPM_REGISTRY: indexAddress.optional(),
} as const

/** Where the network gateway finds the engine and certificates. It gets none of the server's secrets. */
const GATEWAY_VARIABLES = ['PATH', 'NODE_EXTRA_CA_CERTS', 'DOCKER_HOST'] as const

export interface NetworkConfig {
  readonly isOn: boolean
  /** Hosts that containers may reach at private addresses, and a file of certificates that the gateway trusts. */
  readonly privateHosts: Readonly<Record<string, PrivateHost>>
  readonly caFile: string | null
  readonly indexes: PackageIndexes
  /** Environment of the process of the gateway. */
  readonly gatewayEnv: Readonly<Record<string, string>>
}

const Values = z.object(NETWORK_VARIABLES)

export const networkConfigOf = (values: z.infer<typeof Values>, env: Readonly<Record<string, string | undefined>>): NetworkConfig => ({
  isOn: values.CELLBLOCK_NETWORK === 'on',
  privateHosts: values.CELLBLOCK_NETWORK_PRIVATE_HOSTS,
  caFile: values.CELLBLOCK_NETWORK_CA === undefined ? null : resolve(values.CELLBLOCK_NETWORK_CA),
  indexes: { pip: values.CELLBLOCK_NETWORK_PIP_INDEX, npm: values.CELLBLOCK_NETWORK_NPM_REGISTRY },
  gatewayEnv: Object.fromEntries(GATEWAY_VARIABLES.flatMap((name) => (env[name] === undefined ? [] : [[name, env[name]]]))),
})
