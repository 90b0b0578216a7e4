import { randomInt } from 'node:crypto'
import { singleImage } from '../../services/model/containers/images.ts'
import { existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Docker from 'dockerode'
import { afterAll, describe, expect, inject, it } from 'vitest'
import { newId } from '../../services/model/ids.ts'
import type { SandboxDriver } from '../../services/ports/sandbox-driver.ts'
import type { SupervisorEvent } from '../../services/ports/supervisor.ts'
import { createSandboxContainer } from '../../services/adapters/drivers/docker/create-sandbox-container.ts'
import { controlFolder, ownControlFolders } from '../../services/adapters/drivers/docker/control-folder.ts'
import { createDockerDriver, type DockerDriverOptions } from '../../services/adapters/drivers/docker/docker-driver.ts'
import { DEFAULT_LIMITS } from '../../services/adapters/drivers/docker/limits.ts'
import { readSeccompProfile } from '../../services/adapters/drivers/docker/seccomp-profile.ts'
import { createExecRelay } from '../../services/adapters/drivers/docker/exec-relay.ts'
import { createSandboxLink } from '../../services/adapters/link/create-sandbox-link.ts'
import { createSupervisorClient } from '../../services/adapters/supervisor-client/supervisor-client.ts'
import { idsOf, newSpec, sandboxDriverContract } from '../contract/sandbox-driver.ts'

const MiB = 1024 * 1024
const docker = new Docker()
const link = createSandboxLink({ openRelay: createExecRelay(docker) })
const supervisor = createSupervisorClient({ link })
const stage = `driver-test-${process.pid}`
const scratch = mkdtempSync(join(tmpdir(), 'drv-'))
const made: SandboxDriver[] = []
const soon = (): AbortSignal => AbortSignal.timeout(55_000)

const newDriver = (options: Partial<DockerDriverOptions> = {}) => {
  const driver = createDockerDriver({
    docker,
    images: singleImage(inject('sandboxImage')),
    preload: [],
    stage,
    supervisor,
    controlFolders: ownControlFolders(join(scratch, 'c')),
    ...options,
  })
  made.push(driver)
  return driver
}

/** A sandbox whose supervisor only runs this Python. */
const withProgram = (name: string, python: string): Partial<DockerDriverOptions> => {
  const folder = join(scratch, name)
  mkdirSync(folder)
  writeFileSync(join(folder, '__init__.py'), '')
  writeFileSync(join(folder, '__main__.py'), python)
  return { readOnlyBinds: [`${folder}:/opt/cellblock/cellblock_supervisor`] }
}

const startReady = async (driver: SandboxDriver) => {
  const spec = newSpec()
  await driver.start(spec, soon())
  const status = await driver.waitReady(spec.sandboxId, soon())
  if (status.phase !== 'ready') throw new Error(`The sandbox is ${JSON.stringify(status)}.`)
  const session = { sandboxId: spec.sandboxId, address: status.address, privateKey: spec.privateKey }
  return {
    sandboxId: spec.sandboxId,
    async run(
      code: string,
    ): Promise<{ readonly stdout: string; readonly error: string | undefined; readonly done: SupervisorEvent | undefined }> {
      const events: SupervisorEvent[] = []
      const request = { cells: [{ code }], onError: 'stop', storeHistory: true, timeoutMs: 20_000 } as const
      for await (const event of await supervisor.execute(session, { executionId: newId('execution'), request, after: -1 }, soon()))
        events.push(event)
      return {
        stdout: events.map((event) => (event.type === 'stream' && event.name === 'stdout' ? event.text : '')).join(''),
        error: events.find((event) => event.type === 'error')?.name,
        done: events.at(-1),
      }
    },
  }
}

afterAll(async () => {
  for (const driver of made) for (const id of await idsOf(driver).catch(() => [])) await driver.stop(id)
  await link.close()
  rmSync(scratch, { recursive: true })
})

sandboxDriverContract('docker', () => newDriver())

describe('the Docker driver', () => {
  it('starts a sandbox that passes its self-test and runs code', async () => {
    const driver = newDriver()
    const sandbox = await startReady(driver)
    expect(await sandbox.run('print(40 + 2)')).toMatchObject({ stdout: '42\n', done: { type: 'done', outcome: 'ok' } })
    expect(await sandbox.run('open("/opt/x", "w")')).toMatchObject({ error: 'OSError' })

    const { Config, HostConfig, NetworkSettings, HostnamePath, State } = await docker.getContainer(sandbox.sandboxId).inspect()
    expect(HostConfig).toMatchObject({
      NetworkMode: 'none',
      ReadonlyRootfs: true,
      Privileged: false,
      CapDrop: ['ALL'],
      CapAdd: ['SETUID', 'SETGID', 'KILL'],
      PidsLimit: 256,
      OomScoreAdj: 500,
      LogConfig: { Type: 'none' },
      CgroupnsMode: 'private',
      IpcMode: 'private',
      CpuShares: 1024,
      NanoCpus: 1e9,
    })
    expect(HostConfig.MemorySwap).toBe(HostConfig.Memory)
    expect(HostConfig.SecurityOpt).toContain('no-new-privileges')
    expect(HostConfig.SecurityOpt?.some((option: string) => option.startsWith('seccomp={'))).toBe(true)
    for (const options of Object.values(HostConfig.Tmpfs ?? {})) expect(options).toMatch(/nosuid,nodev.*size=\d+/)
    expect(Object.keys(NetworkSettings.Networks)).toEqual([])
    expect(await sandbox.run('import socket; print(*map(socket.gethostbyname, ("localhost", socket.gethostname())))')).toMatchObject({
      stdout: '127.0.0.1 127.0.0.1\n',
    })
    expect([Config.Hostname, HostnamePath === '', State.Running]).toEqual(['sandbox', false, true])
    expect(Config.Env.filter((line) => /KEY|SECRET|TOKEN|AWS/.test(line) && !line.startsWith('CELLBLOCK_PUBLIC_KEY='))).toEqual([])

    await driver.stop(sandbox.sandboxId)
    expect(existsSync(controlFolder(join(scratch, 'c'), sandbox.sandboxId))).toBe(false)
  })

  it('gives each sandbox another user id, which has a name, and takes another one when the first is in use', async () => {
    const driver = newDriver()
    const [first, second] = [await startReady(driver), await startReady(driver)]
    const uidOf = async (code: string, sandbox: typeof first): Promise<string> => (await sandbox.run(code)).stdout
    const WHO =
      'import getpass, os, subprocess\nprint(os.getuid() == os.getgid() == os.stat("/mnt/data").st_uid, getpass.getuser(), subprocess.getoutput("id -un"))'
    expect([await uidOf(WHO, first), await uidOf(WHO, second)]).toEqual(['True worker worker\n', 'True worker worker\n'])
    const uids = [await uidOf('print(os.getuid())', first), await uidOf('print(os.getuid())', second)].map(Number)
    expect(new Set(uids).size).toBe(2)
    expect(uids.every((uid) => uid >= 20_000 && uid < 60_000)).toBe(true)

    const spec = newSpec()
    // Not one number for every run: an interrupted run may have left its container.
    const free = randomInt(50_000, 60_000)
    const choices = [uids[0] as number, uids[1] as number, free]
    const plan = { image: inject('sandboxImage'), stage, limits: DEFAULT_LIMITS, seccompProfile: readSeccompProfile() }
    await createSandboxContainer(docker, spec, { plan, chooseUid: () => choices.shift() as number })
    expect((await docker.getContainer(spec.sandboxId).inspect()).Config.Labels['cellblock.worker-uid']).toBe(String(free))
  })

  it('starts pool sandboxes with low priority and awaited sandboxes with normal priority', async () => {
    const driver = newDriver(withProgram('weighs', 'import signal; signal.pause()'))
    const weightOf = async (isAwaited: boolean): Promise<number | undefined> => {
      const spec = { ...newSpec(), isAwaited }
      await driver.start(spec, soon())
      return (await docker.getContainer(spec.sandboxId).inspect()).HostConfig.CpuShares
    }
    expect(await weightOf(false)).toBeLessThan((await weightOf(true)) ?? 0)
  })

  it('weighs a sandbox, which has the whole weight when it is ready, and does without one that is gone', async () => {
    const driver = newDriver()
    const { sandboxId } = await startReady(driver)
    const shares = async (): Promise<number | undefined> => (await docker.getContainer(sandboxId).inspect()).HostConfig.CpuShares
    expect(await shares()).toBe(1024)
    await driver.weigh?.(sandboxId, 0.25)
    expect(await shares()).toBe(256)
    // Linux accepts no less than 2.
    await driver.weigh?.(sandboxId, 1 / 4096)
    expect(await shares()).toBe(2)
    await driver.weigh?.(sandboxId, 1)
    expect(await shares()).toBe(1024)
    await driver.stop(sandboxId)
    await driver.weigh?.(sandboxId, 0.5)
  })

  it('reads how long a sandbox has computed, and does without one that is gone', async () => {
    const driver = newDriver()
    const { sandboxId, ...sandbox } = await startReady(driver)
    const before = (await driver.processorMs?.(sandboxId)) ?? 0
    expect(before).toBeGreaterThan(0)
    await sandbox.run('import time\nend = time.process_time() + 0.5\nwhile time.process_time() < end: pass')
    const after = (await driver.processorMs?.(sandboxId)) ?? 0
    expect(after - before).toBeGreaterThanOrEqual(490)
    expect(after - before).toBeLessThan(5_000)
    await driver.stop(sandboxId)
    expect(await driver.processorMs?.(sandboxId)).toBeNull()
  })

  it('reaches a sandbox through the relay when host and sandbox cannot share a socket', async () => {
    const driver = newDriver({ transport: 'exec' })
    const sandbox = await startReady(driver)
    expect((await sandbox.run('print("through the relay")')).stdout).toBe('through the relay\n')
    await driver.stop(sandbox.sandboxId)
  })

  it('reports refused when the self-test fails, and does not start that sandbox again', async () => {
    const driver = newDriver(withProgram('refuses', 'raise SystemExit(86)'))
    const spec = newSpec()
    await driver.start(spec, soon())
    const gone = { phase: 'gone', reason: 'refused', exitCode: 86 }
    expect(await driver.waitReady(spec.sandboxId, soon())).toEqual(gone)
    const { StartedAt } = (await docker.getContainer(spec.sandboxId).inspect()).State
    await driver.start(spec, soon())
    expect(await driver.inspect(spec.sandboxId)).toEqual(gone)
    expect((await docker.getContainer(spec.sandboxId).inspect()).State.StartedAt).toBe(StartedAt)
  })

  it.each([
    ['lost', 'raise SystemExit(87)', 87],
    ['stopped', 'raise SystemExit(0)', 0],
    ['oom', 'x = b"x" * (1 << 31)', 137],
  ])('reports %s when the supervisor ends with: %s', async (reason, python, exitCode) => {
    const driver = newDriver({
      ...withProgram(`ends-${reason}`, python),
      limits: { dataBytes: MiB, tmpBytes: MiB, shmBytes: MiB, homeBytes: MiB },
    })
    const spec = newSpec()
    await driver.start(spec, soon())
    expect(await driver.waitReady(spec.sandboxId, soon())).toMatchObject({ phase: 'gone', reason, exitCode })
  })

  it('lists only the sandboxes of the same stage', async () => {
    const spec = newSpec()
    const driver = newDriver(withProgram('sleeps', 'import signal; signal.pause()'))
    await driver.start(spec, soon())
    expect(await idsOf(driver)).toContain(spec.sandboxId)
    expect(await idsOf(newDriver({ stage: `${stage}-other` }))).toEqual([])
    await driver.stop(spec.sandboxId)
  })

  it('reports a missing image as a configuration error', async () => {
    const driver = newDriver({ images: singleImage('cellblock-sandbox:never-built') })
    await expect(driver.check()).rejects.toMatchObject({
      name: 'DriverError',
      kind: 'configuration',
      message: expect.stringContaining('never-built'),
    })
    await expect(driver.start(newSpec(), soon())).rejects.toMatchObject({ kind: 'configuration' })
  })

  it('reports an engine that does not reply as unavailable', async () => {
    const driver = createDockerDriver({
      docker: new Docker({ socketPath: join(scratch, 'no-engine.sock') }),
      images: singleImage('x'),
      stage,
      supervisor,
      controlFolders: ownControlFolders(join(scratch, 'c')),
    })
    for (const call of [
      () => driver.check(),
      () => driver.start(newSpec(), soon()),
      () => driver.stop('sbx_x'),
      () => driver.inspect('sbx_x'),
      () => idsOf(driver),
    ]) {
      await expect(call()).rejects.toMatchObject({
        name: 'DriverError',
        kind: 'unavailable',
        message: expect.stringMatching(/engine does not answer/),
      })
    }
  })

  it('refuses a control folder whose path is too long for a socket or that another user owns', async () => {
    await expect(
      newDriver({ controlFolders: ownControlFolders(join(scratch, 'x'.repeat(90))) }).start(newSpec(), soon()),
    ).rejects.toMatchObject({
      kind: 'configuration',
      message: expect.stringContaining('107'),
    })
    symlinkSync('/tmp', join(scratch, 'link'))
    await expect(newDriver({ controlFolders: ownControlFolders(join(scratch, 'link')) }).start(newSpec(), soon())).rejects.toMatchObject({
      kind: 'configuration',
      message: expect.stringContaining('belongs to another user'),
    })
  })
})
