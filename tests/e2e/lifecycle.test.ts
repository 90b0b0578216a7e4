import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { getPriority, tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import { stageOf } from '../../services/entries/local/config.ts'
import { isAlive } from '../../services/adapters/drivers/docker/remove-orphaned-sandboxes.ts'
import { createTenant } from '../support/create-tenant.ts'
import { startServer, type LocalServerProcess } from '../support/local-server.ts'

const run = promisify(execFile)

/** The number of sandboxes of this server on the engine, by the driver's label. */
async function sandboxCount({ stage }: Pick<LocalServerProcess, 'stage'>): Promise<number> {
  const { stdout } = await run('docker', ['ps', '-aq', '--filter', `label=cellblock.stage=${stage}`])
  return stdout.split('\n').filter(Boolean).length
}

/** The shares of the processors that the engine gives the sandboxes of this server, in ascending order. */
async function sharesOf({ stage }: Pick<LocalServerProcess, 'stage'>): Promise<readonly number[]> {
  const { stdout: ids } = await run('docker', ['ps', '-q', '--filter', `label=cellblock.stage=${stage}`])
  const { stdout } = await run('docker', ['inspect', '--format', '{{.HostConfig.CpuShares}}', ...ids.split('\n').filter(Boolean)])
  return stdout
    .split('\n')
    .filter(Boolean)
    .map(Number)
    .toSorted((one, two) => one - two)
}

describe('the local server', () => {
  it('is ready when every dependency replies, and removes its sandboxes when it is stopped', async () => {
    const server = await startServer({ env: { CELLBLOCK_POOL: '2' } })
    const healthz = await fetch(`${server.url}/healthz`)
    expect(healthz.status).toBe(200)
    await expect.poll(async () => (await fetch(`${server.url}/readyz`)).status).toBe(200)
    await server.native.run(await server.native.createContainer(), 'print(1)')
    expect(await sandboxCount(server)).toBeGreaterThan(0)
    expect(await server.stop()).toBe(0)
    expect(await sandboxCount(server)).toBe(0)
    await expect(fetch(`${server.url}/healthz`)).rejects.toThrow()
  })

  it('asks for its first sandbox before it listens', async () => {
    const server = await startServer({ env: { CELLBLOCK_POOL: '2' } })
    const counted = await sandboxCount(server)
    expect(await server.stop()).toBe(0)
    expect(counted).toBeGreaterThan(0)
    expect(await sandboxCount(server)).toBe(0)
  })

  it('removes the sandboxes of its pool when its port is taken', async () => {
    const first = await startServer()
    const dataDir = await mkdtemp(join(tmpdir(), 'taken-port-'))
    try {
      const port = new URL(first.url).port
      await expect(startServer({ dataDir, env: { CELLBLOCK_POOL: '2', PORT: port } })).rejects.toThrow('Another program uses the port')
      expect(await sandboxCount({ stage: stageOf(dataDir) })).toBe(0)
    } finally {
      await first.stop()
      await rm(dataDir, { recursive: true, force: true })
    }
  })

  it('stops soon while code runs and ends the code', async () => {
    const server = await startServer({ env: { CELLBLOCK_POOL: '0' } })
    const { id } = await server.native.run(
      await server.native.createContainer(),
      'import time\nprint("on", flush=True)\ntime.sleep(3600)',
      0,
    )
    for await (const event of server.native.events(id)) if (event.event === 'stdout') break
    const began = performance.now()
    expect(await server.stop()).toBe(0)
    // Far below the hour that the code sleeps, and below the 50 s of a step.
    expect(performance.now() - began).toBeLessThan(30_000)
    expect(await sandboxCount(server)).toBe(0)
  })

  it('removes its sandboxes and exits with 0 after SIGTERM when its output has no reader any more', async () => {
    const server = await startServer({ env: { CELLBLOCK_POOL: '0', CELLBLOCK_LOG: 'events' } })
    await server.native.run(await server.native.createContainer(), 'print(1)')
    expect(await sandboxCount(server)).toBe(1)
    server.closeOutput()
    expect(await server.stop()).toBe(0)
    expect(await sandboxCount(server)).toBe(0)
  })

  it('of a test ends with its sandboxes when the process of the test is killed', async () => {
    const starter = join(import.meta.dirname, '../support/start-server-with-sandbox.ts')
    const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', starter], { stdio: ['ignore', 'pipe', 'inherit'] })
    const [line] = (await once(createInterface(child.stdout), 'line')) as [string]
    const server = JSON.parse(line) as Pick<LocalServerProcess, 'pid' | 'stage'>
    expect(await sandboxCount(server)).toBe(1)
    child.kill('SIGKILL')
    await expect.poll(() => isAlive(server.pid)).toBe(false)
    expect(await sandboxCount(server)).toBe(0)
  })

  it('has precedence over sandboxes that compute where root started it', async () => {
    const server = await startServer({ env: { CELLBLOCK_POOL: '0' } })
    expect(getPriority(server.pid)).toBe(process.getuid?.() === 0 ? -10 : getPriority())
    expect(await server.stop()).toBe(0)
  })

  it('shares the processors between tenants: two sandboxes of one weigh as much as the one of another', async () => {
    const server = await startServer()
    try {
      const other = server.as(await createTenant(server, 'other'))
      await other.run(await other.createContainer(), 'pass')
      const containers = await Promise.all(['a', 'b'].map((name) => server.native.createContainer(name)))
      for (const container of containers) await server.native.run(container, 'pass')
      await expect.poll(() => sharesOf(server)).toEqual([512, 512, 1024])
      await server.native.call('DELETE', `/v1/containers/${containers[0]}`)
      await expect.poll(() => sharesOf(server)).toEqual([1024, 1024])
    } finally {
      await server.stop()
    }
  })

  it('claims a warm sandbox for the first execution and refills the pool', async () => {
    const server = await startServer({ env: { CELLBLOCK_POOL: '1', CELLBLOCK_LOG: 'events' } })
    try {
      await expect.poll(() => server.said()).toMatch(/"event":"sandbox_start","outcome":"ready"/)
      const containers = await Promise.all(['a', 'b', 'c'].map((name) => server.native.createContainer(name)))
      const executions = await Promise.all(containers.map((container, i) => server.native.run(container, `print(${i})`)))
      expect(executions).toMatchObject([0, 1, 2].map((i) => ({ status: 'succeeded', stdout: `${i}\n`, lost: [] })))
    } finally {
      await server.stop()
    }
  })

  it('stops the sandbox of a deleted container and returns 404 for its contents', async () => {
    const server = await startServer({ env: { CELLBLOCK_POOL: '0' } })
    try {
      const container = await server.native.createContainer()
      const execution = await server.native.run(container, 'open("x.txt", "w").write("x"); print(1)')
      expect(await sandboxCount(server)).toBe(1)
      expect((await server.native.call('DELETE', `/v1/containers/${container}`)).status).toBe(200)
      expect((await server.native.call('GET', `/v1/containers/${container}`)).status).toBe(404)
      await expect.poll(() => sandboxCount(server), { timeout: 30_000 }).toBe(0)
      await expect
        .poll(async () => (await server.native.call('GET', `/v1/executions/${execution.id}`)).status, { timeout: 30_000 })
        .toBe(404)
      await expect.poll(async () => (await fetch(execution.files[0]?.url ?? '')).status, { timeout: 30_000 }).toBe(404)
    } finally {
      await server.stop()
    }
  })
})
