/** What is known about the machine and its Docker engine before anything is changed. */
export interface EngineFacts {
  readonly answers: boolean
  /** What `docker version` said when it did not answer. */
  readonly complaint: string
  /** DOCKER_HOST, when somebody chose an engine. */
  readonly dockerHost: string | undefined
  readonly platform: NodeJS.Platform
  readonly isRoot: boolean
  /** ID and ID_LIKE of /etc/os-release. */
  readonly distributions: readonly string[]
  readonly isDockerdInstalled: boolean
  readonly hasDockerCommand: boolean
  readonly mayInstall: boolean
}

export type EngineDecision = { readonly kind: 'use' | 'start' | 'install' } | { readonly kind: 'refuse'; readonly sentence: string }

const refuse = (sentence: string): EngineDecision => ({ kind: 'refuse', sentence })

/** Only a Debian or Ubuntu root user gets an engine installed or started; everybody else is told what to do. */
export function decideEngine(facts: EngineFacts): EngineDecision {
  if (facts.answers) return { kind: 'use' }
  if (facts.dockerHost !== undefined && !facts.hasDockerCommand)
    return refuse(
      'The `docker` command is missing. Install it (on Debian: apt-get install docker-cli, or docker.io) and run the command again.',
    )
  if (facts.dockerHost !== undefined)
    return refuse(
      `No Docker engine answers at DOCKER_HOST=${facts.dockerHost}. Start that engine, or unset DOCKER_HOST to use this machine's own.`,
    )
  if (/permission denied/i.test(facts.complaint))
    return refuse(
      'A Docker engine is running, but this user may not use it. Run `sudo usermod -aG docker $USER`, log in again, and run the command again.',
    )
  if (facts.platform !== 'linux')
    return refuse('No Docker engine answers. Install Docker Desktop, OrbStack or Colima, start it, and run the command again.')

  const isDebian = facts.distributions.some((name) => name === 'debian' || name === 'ubuntu')
  if (!isDebian)
    return refuse(
      'No Docker engine answers. Install Docker Engine (https://docs.docker.com/engine/install/), start it, and run the command again.',
    )
  if (!facts.isRoot)
    return refuse(
      'No Docker engine answers. Run `sudo apt-get install -y docker.io && sudo usermod -aG docker $USER`, log in again, and run the command again.',
    )
  if (!facts.mayInstall)
    return refuse('No Docker engine answers, and --no-install forbids installing or starting one. Start Docker, or leave out --no-install.')
  return { kind: facts.isDockerdInstalled && facts.hasDockerCommand ? 'start' : 'install' }
}
