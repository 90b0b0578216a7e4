import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { readSetupConfig } from '../../../scripts/setup/config.ts'
import { ensureEngine, parseDistributions, type EngineHost } from '../../../scripts/setup/engine.ts'
import { quiet } from '../../../scripts/setup/progress.ts'
import { FakePrograms } from './fake-programs.ts'

const debian: EngineHost = { platform: 'linux', isRoot: true, distributions: ['debian'], hasSystemd: false, systemPath: [] }
const DOCKER = 'case "$1" in context) exit 1;; esac; [ -e "$here/running" ] || { echo "Cannot connect" >&2; exit 1; }; echo 20.10.24'
const DOCKERD = 'touch "$here/running"; echo started'

describe('ensureEngine', () => {
  let folder: string
  let programs: FakePrograms
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'cellblock-engine-'))
    programs = new FakePrograms(join(folder, 'bin'))
    await programs.add('touch', 'exec /usr/bin/touch "$@"')
  })
  afterEach(() => rm(folder, { recursive: true, force: true }))

  const ensure = (host: Partial<EngineHost> = {}, mayInstall = true) =>
    ensureEngine(
      readSetupConfig({ PATH: programs.folder }),
      { mayInstall, logFile: join(folder, 'dockerd.log'), startTimeoutSeconds: 10 },
      { progress: quiet, host: { ...debian, ...host } },
    )

  it('reads the version of a running engine and changes nothing', async () => {
    await programs.add('docker', 'case "$1" in context) exit 1;; esac; echo 28.0.1')
    expect(await ensure()).toEqual({ version: '28.0.1', host: undefined })
    expect((await programs.calls()).every((call) => call.startsWith('docker '))).toBe(true)
  })

  it("returns the address of the docker command's context, which other clients ignore", async () => {
    await programs.add('docker', 'case "$1" in context) echo unix:///home/me/.colima/docker.sock;; *) echo 28.0.1;; esac')
    expect((await ensure()).host).toBe('unix:///home/me/.colima/docker.sock')
  })

  it('starts an installed engine', async () => {
    await programs.add('docker', DOCKER)
    await programs.add('dockerd', DOCKERD)
    expect((await ensure()).version).toBe('20.10.24')
    expect((await programs.calls()).some((call) => call.startsWith('apt-get'))).toBe(false)
  })

  it('installs docker.io if no engine is installed, then starts it', async () => {
    const install = (name: string, body: string) =>
      `printf '%s\\n' '#!/bin/sh' "here='$here'" '${body}' > "$here/${name}"; /bin/chmod 755 "$here/${name}"`
    await programs.add('apt-get', `case "$*" in *docker.io*) ${install('docker', DOCKER)}; ${install('dockerd', DOCKERD)};; esac`)
    expect((await ensure()).version).toBe('20.10.24')
    expect((await programs.calls()).filter((call) => call.startsWith('apt-get'))).toEqual([
      expect.stringMatching(/ update /),
      expect.stringMatching(/ install .*docker\.io$/),
    ])
  })

  it('starts the engine with systemd where it runs', async () => {
    await programs.add('docker', DOCKER)
    await programs.add('dockerd', 'exit 9')
    await programs.add('systemctl', 'touch "$here/running"')
    expect((await ensure({ hasSystemd: true })).version).toBe('20.10.24')
    expect(await programs.calls()).toContain('systemctl start docker')
  })

  it('fails with --no-install and changes nothing', async () => {
    await programs.add('docker', DOCKER)
    await programs.add('dockerd', DOCKERD)
    await expect(ensure({}, false)).rejects.toThrow('--no-install forbids')
    expect((await programs.calls()).some((call) => call.startsWith('dockerd'))).toBe(false)
  })

  it('shows why apt-get failed, and recognises a full disk', async () => {
    await programs.add('docker', DOCKER)
    await programs.add('apt-get', 'case "$*" in *install*) echo "E: write error - write (28: No space left on device)"; exit 100;; esac')
    await expect(ensure()).rejects.toThrow(/E: write error[\s\S]*could not install docker\.io[\s\S]*The disk is full/)
  })

  it("shows the engine's log if it does not start", async () => {
    await programs.add('docker', DOCKER)
    await programs.add('dockerd', 'echo "failed to mount cgroup: operation not permitted"; exit 1')
    await expect(ensure()).rejects.toThrow(/operation not permitted[\s\S]*did not start/)
  })
})

describe('parseDistributions', () => {
  it('reads ID and ID_LIKE, quoted or not', () => {
    expect(parseDistributions('NAME="Linux Mint"\nID=linuxmint\nID_LIKE="ubuntu debian"\n')).toEqual(['linuxmint', 'ubuntu', 'debian'])
  })
})
