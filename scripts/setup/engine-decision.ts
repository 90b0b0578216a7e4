/** State of the machine and its Docker engine before any change. */
export interface EngineState {
  readonly isRunning: boolean
  /** Output of `docker version` if no engine answered. */
  readonly errorOutput: string
  /** DOCKER_HOST, if set. */
  readonly dockerHost: string | undefined
  readonly platform: NodeJS.Platform
  readonly isRoot: boolean
  /** ID and ID_LIKE of /etc/os-release. */
  readonly distributions: readonly string[]
  readonly isDockerdInstalled: boolean
  readonly hasDockerCommand: boolean
  readonly mayInstall: boolean
}

export type EngineDecision = { readonly kind: 'use' | 'start' | 'install' } | { readonly kind: 'refuse'; readonly message: string }

const refuse = (message: string): EngineDecision => ({ kind: 'refuse', message })

/** Installs or starts an engine only for root on Debian or Ubuntu; other users get instructions. */
export function decideEngine(state: EngineState): EngineDecision {
  if (state.isRunning) return { kind: 'use' }
  if (state.dockerHost !== undefined && !state.hasDockerCommand)
    return refuse(
      'The `docker` command is missing. Install it (on Debian: apt-get install docker-cli, or docker.io) and run the command again.',
    )
  if (state.dockerHost !== undefined)
    return refuse(
      `No Docker engine answers at DOCKER_HOST=${state.dockerHost}. Start that engine, or unset DOCKER_HOST to use this machine's own.`,
    )
  if (/permission denied/i.test(state.errorOutput))
    return refuse(
      'A Docker engine is running, but this user has no permission to use it. Run `sudo usermod -aG docker $USER`, log in again, and run the command again.',
    )
  if (state.platform !== 'linux')
    return refuse('No Docker engine answers. Install Docker Desktop, OrbStack or Colima, start it, and run the command again.')

  const isDebian = state.distributions.some((name) => name === 'debian' || name === 'ubuntu')
  if (!isDebian)
    return refuse(
      'No Docker engine answers. Install Docker Engine (https://docs.docker.com/engine/install/), start it, and run the command again.',
    )
  if (!state.isRoot)
    return refuse(
      'No Docker engine answers. Run `sudo apt-get install -y docker.io && sudo usermod -aG docker $USER`, log in again, and run the command again.',
    )
  if (!state.mayInstall)
    return refuse('No Docker engine answers, and --no-install forbids installing or starting one. Start Docker, or omit --no-install.')
  return { kind: state.isDockerdInstalled && state.hasDockerCommand ? 'start' : 'install' }
}
