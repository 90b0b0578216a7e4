import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { startServer, type LocalServerProcess } from '../support/local-server.ts'
import type { WireExecution } from '../support/native-client.ts'
import { gvisorOptions } from './gvisor-driver.ts'

let server: LocalServerProcess
beforeAll(async () => {
  const { runtime } = await gvisorOptions()
  server = await startServer({
    env: { SANDBOX_DOCKER_RUNTIME: runtime ?? '', CELLBLOCK_SANDBOX_IMAGE: inject('sandboxImage'), CELLBLOCK_POOL: '0' },
  })
}, 900_000)
afterAll(async () => void (await server.stop()))

/** A call of E2B's control plane. */
const e2b = (method: string, path: string, body?: unknown): Promise<Response> =>
  server.native.call(method, `/e2b${path}`, body, { 'x-api-key': server.apiKey })

/** Starts a program, and returns its container with the number of the kernel's start. */
async function withProgram(container: string): Promise<{ readonly bootId: string; readonly command: string }> {
  const { stdout } = await server.native.run(container, 'x = 41; open("kept.txt", "w").write("kept"); print(open(BOOT_ID).read())')
  const { id } = await server.native.json<WireExecution>('POST', `/v1/containers/${container}/commands`, {
    command: 'exec sleep 1000',
    background: true,
  })
  await expect.poll(async () => (await server.native.run(container, RUNS)).stdout).toBe('True\n')
  return { bootId: stdout, command: id }
}

const DEFINES = 'BOOT_ID = "/proc/sys/kernel/random/boot_id"'
const RUNS = 'import pathlib; print(any(b"sleep" in p.read_bytes() for p in pathlib.Path("/proc").glob("[0-9]*/cmdline")))'

async function newContainer(): Promise<string> {
  const container = await server.native.createContainer()
  await server.native.run(container, DEFINES)
  return container
}

/** The sandbox is another one, which has the variables and files of before, and the program has ended. */
async function expectRestarted(container: string, before: { readonly bootId: string; readonly command: string }): Promise<void> {
  const after = await server.native.run(container, 'print(x + 1, open("kept.txt").read()); print(open(BOOT_ID).read())')
  expect(after.stdout.startsWith('42 kept\n')).toBe(true)
  expect(after.stdout.endsWith(before.bootId)).toBe(false)
  expect((await server.native.run(container, RUNS)).stdout).toBe('False\n')
  expect(await server.native.json('GET', `/v1/commands/${before.command}?wait=30`)).toMatchObject({ status: 'cancelled' })
}

describe("E2B's pause without memory", () => {
  it('ends processes and keeps variables and files', async () => {
    const container = await newContainer()
    const before = await withProgram(container)
    expect((await e2b('POST', `/sandboxes/${container}/connect`, {})).status).toBe(200)
    expect((await e2b('POST', `/sandboxes/${container}/pause`, { memory: false })).status).toBe(204)
    expect((await e2b('POST', `/sandboxes/${container}/connect`, {})).status).toBe(201)
    await expectRestarted(container, before)
  })

  it('ends those of a container that is suspended', async () => {
    const container = await newContainer()
    const before = await withProgram(container)
    expect((await e2b('POST', `/sandboxes/${container}/connect`, {})).status).toBe(200)
    expect(await server.native.json('POST', `/v1/containers/${container}/suspend`)).toMatchObject({ state: 'suspended' })
    expect((await e2b('POST', `/sandboxes/${container}/pause`, { memory: false })).status).toBe(204)
    await expectRestarted(container, before)
  })

  it('is what the end of its time does to a sandbox that was created so', async () => {
    const created = await e2b('POST', '/v2/sandboxes', { templateID: 'base', timeout: 0, autoPause: true, autoPauseMemory: false })
    const { sandboxID } = (await created.json()) as { readonly sandboxID: string }
    const { data } = await server.native.json<{ readonly data: readonly { readonly id: string }[] }>(
      'GET',
      '/v1/containers?limit=1&order=desc',
    )
    const container = data[0]?.id ?? ''
    await server.native.run(container, DEFINES)
    const before = await withProgram(container)
    expect((await e2b('POST', `/v2/sandboxes/${sandboxID}/connect`, {})).status).toBe(201)
    await expectRestarted(container, before)
  })

  it('is not what a pause does that names nothing', async () => {
    const container = await newContainer()
    const { bootId, command } = await withProgram(container)
    expect((await e2b('POST', `/sandboxes/${container}/connect`, {})).status).toBe(200)
    expect((await e2b('POST', `/sandboxes/${container}/pause`)).status).toBe(204)
    expect((await e2b('POST', `/sandboxes/${container}/connect`, {})).status).toBe(201)
    expect((await server.native.run(container, 'print(open(BOOT_ID).read())')).stdout).toBe(bootId)
    expect(await server.native.json('GET', `/v1/commands/${command}`)).toMatchObject({ status: 'running' })
    await server.native.json('POST', `/v1/commands/${command}/cancel`)
  })
})
