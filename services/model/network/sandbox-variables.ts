import { matchesHost } from './host.ts'

/** Where the supervisor listens for programs and writes the certificate of the gateway (runtime-image/PROTOCOL.md). */
const PROXY = 'http://127.0.0.1:3128'
const CA_FILE = '/run/network/ca.pem'
const LOCAL = 'localhost,127.0.0.1,::1,sandbox'

/** The operator's own indexes of packages, instead of those that pip and npm know. */
export interface PackageIndexes {
  readonly pip?: string | undefined
  readonly npm?: string | undefined
}

/** Programs that read only one of several names of a variable. */
const inBothCases = (name: string, value: string): Readonly<Record<string, string>> => ({
  [name]: value,
  [name.toLowerCase()]: value,
})

/** Only for a container that may reach the host: another one keeps the indexes of its presets. */
const allowedIndex = (name: string, address: string | undefined, hosts: readonly string[]): Readonly<Record<string, string>> =>
  address !== undefined && hosts.some((pattern) => matchesHost(pattern, new URL(address).hostname)) ? { [name]: address } : {}

/** Variables with which unmodified programs of a sandbox use its network. `hosts`: what the container may reach. */
export const networkVariables = (hosts: readonly string[], indexes: PackageIndexes = {}): Readonly<Record<string, string>> => ({
  ...inBothCases('HTTP_PROXY', PROXY),
  ...inBothCases('HTTPS_PROXY', PROXY),
  ...inBothCases('ALL_PROXY', PROXY),
  ...inBothCases('NO_PROXY', LOCAL),
  SSL_CERT_FILE: CA_FILE,
  REQUESTS_CA_BUNDLE: CA_FILE,
  CURL_CA_BUNDLE: CA_FILE,
  GIT_SSL_CAINFO: CA_FILE,
  PIP_CERT: CA_FILE,
  AWS_CA_BUNDLE: CA_FILE,
  NODE_EXTRA_CA_CERTS: CA_FILE,
  // Node's fetch reads the variables of the proxy.
  NODE_USE_ENV_PROXY: '1',
  // A refusal is final, so pip tries again once only. npm's cache would fill the small home folder.
  PIP_RETRIES: '1',
  NPM_CONFIG_CACHE: '/tmp/.npm',
  NPM_CONFIG_UPDATE_NOTIFIER: 'false',
  ...allowedIndex('PIP_INDEX_URL', indexes.pip, hosts),
  ...allowedIndex('NPM_CONFIG_REGISTRY', indexes.npm, hosts),
  CELLBLOCK_NETWORK: hosts.join(' '),
})
