/** What a user may set for the set-up; everything is optional. */
export interface SetupConfig {
  /** A local image to build the sandbox on, where neither Docker Hub nor a Debian mirror can be reached. */
  readonly baseImage: string | undefined
  readonly dockerHost: string | undefined
  readonly npmCli: string | undefined
  readonly caFile: string | undefined
  /** Passed on to `docker build`; the names are Docker's, Debian's and pip's own. */
  readonly buildArguments: Readonly<Record<string, string>>
  readonly environment: NodeJS.ProcessEnv
}

const BUILD_ARGUMENTS = [
  'HTTP_PROXY',
  'HTTPS_PROXY',
  'NO_PROXY',
  'http_proxy',
  'https_proxy',
  'no_proxy',
  'DEBIAN_MIRROR',
  'PIP_INDEX_URL',
] as const

export function readSetupConfig(env: NodeJS.ProcessEnv = process.env): SetupConfig {
  return {
    baseImage: env['CELLBLOCK_BASE_IMAGE'],
    dockerHost: env['DOCKER_HOST'],
    npmCli: env['npm_execpath'],
    caFile: env['SSL_CERT_FILE'],
    buildArguments: Object.fromEntries(BUILD_ARGUMENTS.flatMap((name) => (env[name] ? [[name, env[name]]] : []))),
    environment: env,
  }
}
