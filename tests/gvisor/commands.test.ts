import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { startServer, type LocalServerProcess } from '../support/local-server.ts'
import type { NativeClient, WireExecution } from '../support/native-client.ts'
import { gvisorOptions } from './gvisor-driver.ts'

/** `npm run test:gvisor -- --long` repeats it a hundred times. */
const ROUNDS = process.env['CELLBLOCK_LONG_CALLS'] === '1' ? 100 : 3
const MS_PER_ROUND = 30_000

interface WireCommand extends WireExecution {
  readonly exit_code: number | null
  readonly signal: string | null
}

let server: LocalServerProcess
let api: NativeClient
beforeAll(async () => {
  const { runtime } = await gvisorOptions()
  server = await startServer({
    env: { SANDBOX_DOCKER_RUNTIME: runtime ?? '', CELLBLOCK_SANDBOX_IMAGE: inject('sandboxImage'), CELLBLOCK_POOL: '0' },
  })
  api = server.native
}, 900_000)
afterAll(async () => void (await server.stop()))

const start = (container: string, body: Readonly<Record<string, unknown>>): Promise<WireCommand> =>
  api.json('POST', `/v1/containers/${container}/commands`, { background: true, ...body })
const read = (id: string, wait = 0): Promise<WireCommand> => api.json('GET', `/v1/commands/${id}?wait=${wait}`)
const state = async (container: string, verb: 'suspend' | 'resume'): Promise<unknown> =>
  (await api.json<{ state: string }>('POST', `/v1/containers/${container}/${verb}`)).state

async function ended(id: string): Promise<WireCommand> {
  for (;;) {
    const command = await read(id, 60)
    if (command.ended_at !== null) return command
  }
}

/** The command has printed at least so many lines more. */
const printed = (id: string, lines: number): Promise<void> =>
  expect.poll(async () => (await read(id)).stdout.split('\n').length - 1).toBeGreaterThanOrEqual(lines)

const COUNTS = 'i=0; while [ ! -e stop ]; do i=$((i+1)); echo $i; sleep 0.05; done'
const numbersTo = (count: number): string => Array.from({ length: count }, (_, index) => `${index + 1}\n`).join('')

describe('a command that runs while its container is suspended', () => {
  it(
    'continues where it was, with every line of its output once',
    async () => {
      const container = await api.createContainer()
      const { id } = await start(container, { command: COUNTS })
      let lines = 1
      for (let round = 0; round < ROUNDS; round++) {
        await printed(id, lines)
        expect(await state(container, 'suspend')).toBe('suspended')
        const before = await read(id)
        expect(before.status).toBe('running')
        expect(await state(container, 'resume')).toBe('running')
        lines = before.stdout.split('\n').length + 1
        await printed(id, lines)
      }
      await api.run(container, 'open("stop", "w").close()')
      const { status, stdout, exit_code: code } = await ended(id)
      expect({ status, code }).toEqual({ status: 'succeeded', code: 0 })
      expect(stdout).toBe(numbersTo(stdout.split('\n').length - 1))
    },
    ROUNDS * MS_PER_ROUND,
  )

  it('has its time limit for itself: the suspension does not count', async () => {
    const container = await api.createContainer()
    const { id } = await start(container, { command: 'echo on; sleep 4; echo over', timeout_seconds: 8 })
    await printed(id, 1)
    expect(await state(container, 'suspend')).toBe('suspended')
    // Nothing else passes: the test is about time.
    const suspendedAt = performance.now()
    await expect.poll(() => performance.now() - suspendedAt, { timeout: 20_000 }).toBeGreaterThan(9_000)
    expect(await state(container, 'resume')).toBe('running')
    const { status, stdout } = await ended(id)
    expect({ status, stdout }).toEqual({ status: 'succeeded', stdout: 'on\nover\n' })
  })

  it('receives input, which resumes its container', async () => {
    const container = await api.createContainer()
    const { id } = await start(container, { command: 'echo on; read line; echo "got $line"', stdin: 'open' })
    await printed(id, 1)
    expect(await state(container, 'suspend')).toBe('suspended')
    await api.json('POST', `/v1/commands/${id}/stdin`, { data: 'hello\n' })
    const { status, stdout } = await ended(id)
    expect({ status, stdout }).toEqual({ status: 'succeeded', stdout: 'on\ngot hello\n' })
  })

  it('is ended by its cancellation', async () => {
    const container = await api.createContainer()
    const { id } = await start(container, { command: 'echo on; exec sleep 1000' })
    await printed(id, 1)
    expect(await state(container, 'suspend')).toBe('suspended')
    await api.json('POST', `/v1/commands/${id}/cancel`)
    const { status, signal } = await ended(id)
    expect({ status, signal }).toEqual({ status: 'cancelled', signal: 'SIGTERM' })
  })

  it('answers the call that waits for it', async () => {
    const container = await api.createContainer()
    await api.run(container, '1')
    const call = start(container, { command: 'touch begun; sleep 2; echo over', background: false })
    await expect.poll(async () => (await api.run(container, 'import os; print(os.path.exists("begun"))')).stdout).toBe('True\n')
    expect(await state(container, 'suspend')).toBe('suspended')
    expect(await state(container, 'resume')).toBe('running')
    expect(await call).toMatchObject({ status: 'succeeded', stdout: 'over\n', exit_code: 0 })
  })
})
