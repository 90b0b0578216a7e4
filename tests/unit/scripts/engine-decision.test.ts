import { describe, expect, it } from 'vitest'
import { decideEngine, type EngineFacts } from '../../../scripts/setup/engine-decision.ts'

const debianRoot: EngineFacts = {
  answers: false,
  complaint: 'Cannot connect to the Docker daemon at unix:///var/run/docker.sock.',
  dockerHost: undefined,
  platform: 'linux',
  isRoot: true,
  distributions: ['debian'],
  isDockerdInstalled: false,
  hasDockerCommand: false,
  mayInstall: true,
}
const sentenceFor = (facts: Partial<EngineFacts>): string => {
  const decision = decideEngine({ ...debianRoot, ...facts })
  return decision.kind === 'refuse' ? decision.sentence : decision.kind
}

describe('decideEngine', () => {
  it('uses an engine that answers, whoever asks', () => {
    expect(decideEngine({ ...debianRoot, answers: true, platform: 'darwin', isRoot: false, mayInstall: false })).toEqual({ kind: 'use' })
  })

  it('installs one for root on Debian and Ubuntu, and on what is like them', () => {
    for (const distributions of [['debian'], ['ubuntu', 'debian'], ['linuxmint', 'ubuntu', 'debian']])
      expect(decideEngine({ ...debianRoot, distributions })).toEqual({ kind: 'install' })
  })

  it('only starts one that is installed', () => {
    expect(decideEngine({ ...debianRoot, isDockerdInstalled: true, hasDockerCommand: true })).toEqual({ kind: 'start' })
  })

  it('changes nothing with --no-install', () => {
    expect(sentenceFor({ mayInstall: false })).toContain('--no-install')
    expect(sentenceFor({ mayInstall: false, isDockerdInstalled: true, hasDockerCommand: true })).toContain('--no-install')
  })

  it('tells everybody else what to do', () => {
    expect(sentenceFor({ isRoot: false })).toContain('sudo apt-get install -y docker.io')
    expect(sentenceFor({ distributions: ['fedora'] })).toContain('Install Docker Engine')
    expect(sentenceFor({ platform: 'darwin', distributions: [] })).toContain('Docker Desktop')
  })

  it('never replaces an engine that somebody chose', () => {
    expect(sentenceFor({ dockerHost: 'tcp://build:2376', hasDockerCommand: true })).toContain('DOCKER_HOST=tcp://build:2376')
    expect(sentenceFor({ dockerHost: 'tcp://build:2376' })).toContain('`docker` command is missing')
  })

  it('tells a missing permission from a missing engine', () => {
    expect(sentenceFor({ complaint: 'permission denied while trying to connect to the Docker daemon socket' })).toContain(
      'usermod -aG docker',
    )
  })
})
