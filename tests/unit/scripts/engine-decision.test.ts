import { describe, expect, it } from 'vitest'
import { decideEngine, type EngineState } from '../../../scripts/setup/engine-decision.ts'

const debianRoot: EngineState = {
  isRunning: false,
  errorOutput: 'Cannot connect to the Docker daemon at unix:///var/run/docker.sock.',
  dockerHost: undefined,
  platform: 'linux',
  isRoot: true,
  distributions: ['debian'],
  isDockerdInstalled: false,
  hasDockerCommand: false,
  mayInstall: true,
}
const messageFor = (state: Partial<EngineState>): string => {
  const decision = decideEngine({ ...debianRoot, ...state })
  return decision.kind === 'refuse' ? decision.message : decision.kind
}

describe('decideEngine', () => {
  it('uses a running engine for every user and platform', () => {
    expect(decideEngine({ ...debianRoot, isRunning: true, platform: 'darwin', isRoot: false, mayInstall: false })).toEqual({ kind: 'use' })
  })

  it('installs one for root on Debian, Ubuntu and their derivatives', () => {
    for (const distributions of [['debian'], ['ubuntu', 'debian'], ['linuxmint', 'ubuntu', 'debian']])
      expect(decideEngine({ ...debianRoot, distributions })).toEqual({ kind: 'install' })
  })

  it('only starts an installed engine', () => {
    expect(decideEngine({ ...debianRoot, isDockerdInstalled: true, hasDockerCommand: true })).toEqual({ kind: 'start' })
  })

  it('changes nothing with --no-install', () => {
    expect(messageFor({ mayInstall: false })).toContain('--no-install')
    expect(messageFor({ mayInstall: false, isDockerdInstalled: true, hasDockerCommand: true })).toContain('--no-install')
  })

  it('gives instructions on other systems and to other users', () => {
    expect(messageFor({ isRoot: false })).toContain('sudo apt-get install -y docker.io')
    expect(messageFor({ distributions: ['fedora'] })).toContain('Install Docker Engine')
    expect(messageFor({ platform: 'darwin', distributions: [] })).toContain('Docker Desktop')
  })

  it('never replaces an engine chosen by DOCKER_HOST', () => {
    expect(messageFor({ dockerHost: 'tcp://build:2376', hasDockerCommand: true })).toContain('DOCKER_HOST=tcp://build:2376')
    expect(messageFor({ dockerHost: 'tcp://build:2376' })).toContain('`docker` command is missing')
  })

  it('distinguishes a missing permission from a missing engine', () => {
    expect(messageFor({ errorOutput: 'permission denied while trying to connect to the Docker daemon socket' })).toContain(
      'usermod -aG docker',
    )
  })
})
