/** Settings of the set-up; all are optional. */
export interface SetupConfig {
  /** A local base image of the sandbox image, for machines that reach neither Docker Hub nor a Debian mirror. */
  readonly baseImage: string | undefined
  readonly dockerHost: string | undefined
  readonly npmCli: string | undefined
  readonly caFile: string | undefined
  /** Arguments of `docker build`; Docker, Debian and pip define the names. */
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
  'NPM_CONFIG_REGISTRY',
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
