import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startServer, type LocalServerProcess } from '../support/local-server.ts'
import type { NativeClient } from '../support/native-client.ts'

interface WireCommand {
  readonly id: string
  readonly status: string
  readonly reason: string | null
  readonly exit_code: number | null
  readonly signal: string | null
  readonly stdout: string
  readonly stderr: string
  readonly files: readonly { readonly path: string }[]
  readonly lost: readonly { readonly what: string; readonly reason: string }[]
}

let dataDir: string
let server: LocalServerProcess
let container: string
const start = (): Promise<LocalServerProcess> => startServer({ dataDir, env: { SANDBOX_PRELOAD: '' } })
beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'cellblock-commands-'))
  server = await start()
  container = await server.native.createContainer()
})
afterAll(async () => {
  expect(await server.stop()).toBe(0)
  await rm(dataDir, { recursive: true, force: true })
})

const native = (): NativeClient => server.native
const get = (id: string, wait = 60): Promise<WireCommand> => native().json<WireCommand>('GET', `/v1/commands/${id}?wait=${wait}`)
/** Waits until it has ended, unless `wait` is 0. */
async function run(body: unknown, wait = 60, id = container): Promise<WireCommand> {
  let command = await native().json<WireCommand>('POST', `/v1/containers/${id}/commands?wait=${wait}`, body)
  while (wait > 0 && ['queued', 'starting', 'running'].includes(command.status)) command = await get(command.id)
  return command
}
const printed = (id: string, text: string): Promise<void> =>
  expect.poll(async () => (await get(id, 0)).stdout, { timeout: 30_000 }).toContain(text)

describe('a command', { timeout: 120_000 }, () => {
  it('starts the sandbox of a new container, and shares its files with code', async () => {
    await native().run(container, 'open("from-code.txt", "w").write("data")')
    const ended = await run({ command: 'cat from-code.txt; echo err >&2; echo x > from-command.txt; exit 5' })
    expect(ended).toMatchObject({ status: 'failed', reason: 'error', exit_code: 5, signal: null, stdout: 'data', stderr: 'err\n' })
    expect(ended.files.map(({ path }) => path)).toEqual(['/mnt/data/from-command.txt'])
    expect((await native().run(container, 'print(open("from-command.txt").read())')).stdout).toBe('x\n\n')
    const first = await run({ argv: ['echo', '$HOME'] }, 60, await native().createContainer())
    expect(first).toMatchObject({ status: 'succeeded', exit_code: 0, stdout: '$HOME\n' })
  })

  it('names what it leaves and is not kept, and keeps names of other systems', async () => {
    const id = await native().createContainer()
    const command = String.raw`mkdir 'Acme Inc.' && echo 1 > 'Acme Inc./a.csv' && echo 2 > $'\u06af\u200c\u0647\u0627.csv' && echo 3 > $'Ma\u0308rz.csv' && ln 'Acme Inc./a.csv' b.csv`
    const ended = await run({ command }, 60, id)
    expect(ended.lost.map(({ what }) => what)).toEqual(['file "Acme Inc./a.csv"'])
    expect(ended.files.map(({ path }) => path).toSorted()).toEqual([
      '/mnt/data/M\u00e4rz.csv',
      '/mnt/data/b.csv',
      '/mnt/data/\u06af\u200c\u0647\u0627.csv',
    ])
  })

  it('runs with the line ends of Windows, as cells of bash and files that cells write do', async () => {
    const script = 'echo one\r\nif true; then\r\n  echo two\r\nfi\r\n'
    expect(await run({ command: script })).toMatchObject({ status: 'succeeded', stdout: 'one\ntwo\n', stderr: '' })
    expect(await native().run(container, { code: script, language: 'bash' })).toMatchObject({ status: 'succeeded', stdout: 'one\ntwo\n' })
    expect((await native().run(container, `%%bash\r\n${script}`)).stdout).toBe('one\ntwo\n')
    await native().run(container, `%%writefile run.sh\r\n#!/bin/bash\r\n${script}`)
    expect((await run({ command: 'chmod +x run.sh && ./run.sh' })).stdout).toBe('one\ntwo\n')
  })

  it('shows a null character that a program prints as U+FFFD, live and in its result', async () => {
    const printer = await run({ command: "printf 'a\\0b'; until [ -e /tmp/seen ]; do sleep 0.05; done" }, 0)
    await printed(printer.id, 'a\ufffdb')
    await run({ command: 'touch /tmp/seen' })
    expect(await get(printer.id)).toMatchObject({ status: 'succeeded', stdout: 'a\ufffdb' })
    const events = await (await native().call('GET', `/v1/commands/${printer.id}/events`)).text()
    expect(events).toContain('a\ufffdb')
    expect(events).not.toContain(String.raw`\u0000`)
  })

  it('runs beside code and other commands, takes input and a signal, and streams its output', async () => {
    const code = await native().run(container, 'import time, os\nwhile not os.path.exists("/tmp/go"): time.sleep(0.05)\nprint("code")', 0)
    const cat = await run({ argv: ['cat'], stdin: 'open' }, 0)
    const sleeper = await run({ command: 'echo up; exec sleep 600', background: true }, 0)
    const listed = await native().json<{ data: readonly WireCommand[] }>('GET', `/v1/containers/${container}/commands`)
    expect(new Set(listed.data.map(({ id }) => id))).toEqual(new Set([cat.id, sleeper.id]))
    await native().json('POST', `/v1/commands/${cat.id}/stdin`, { data: 'a\n' })
    await native().json('POST', `/v1/commands/${cat.id}/stdin`, { data: 'b\n', close: true })
    expect(await get(cat.id)).toMatchObject({ status: 'succeeded', stdout: 'a\nb\n' })
    await printed(sleeper.id, 'up')
    await native().json('POST', `/v1/commands/${sleeper.id}/signal`, { signal: 'SIGKILL' })
    expect(await get(sleeper.id)).toMatchObject({ status: 'failed', signal: 'SIGKILL', exit_code: null })
    await run({ command: 'touch /tmp/go' })
    expect((await native().ended(code.id)).stdout).toBe('code\n')
    const events = await (await native().call('GET', `/v1/commands/${cat.id}/events`)).text()
    expect(events.match(/^event: .+$/gm)?.filter((line) => line !== 'event: stdout')).toEqual([
      'event: status',
      'event: status',
      'event: done',
    ])
  })

  it('runs in a terminal, can be resized and cancelled', async () => {
    const shell = await run({ argv: ['bash', '--norc', '-i'], pty: { cols: 90, rows: 30 } }, 0)
    await native().json('POST', `/v1/commands/${shell.id}/stdin`, { data: 'stty size\n' })
    await printed(shell.id, '30 90')
    await native().json('POST', `/v1/commands/${shell.id}/resize`, { cols: 40, rows: 20 })
    await native().json('POST', `/v1/commands/${shell.id}/stdin`, { data: 'stty size\n' })
    await printed(shell.id, '20 40')
    await native().json('POST', `/v1/commands/${shell.id}/cancel`)
    expect(await get(shell.id)).toMatchObject({ status: 'cancelled', reason: 'caller' })
    const late = await native().call('POST', `/v1/commands/${shell.id}/stdin`, { data: 'x' })
    expect(late.status).toBe(409)
  })

  it('is continued by the next server after a kill: it runs once and no output is lost', async () => {
    const lines = 40
    const command = `echo run >> /tmp/runs; for i in $(seq ${lines}); do echo $i; sleep 0.1; done; wc -l < /tmp/runs`
    const { id } = await run({ command }, 0)
    await printed(id, '3\n')
    await server.kill()
    server = await start()
    const ended = await get(id)
    expect(ended).toMatchObject({ status: 'succeeded', lost: [] })
    expect(ended.stdout).toBe(`${Array.from({ length: lines }, (_, index) => `${index + 1}\n`).join('')}1\n`)
  })

  it('ends with its container', async () => {
    const other = await native().createContainer()
    const { id } = await run({ command: 'sleep 600', background: true }, 0, other)
    await expect.poll(async () => (await get(id, 0)).status, { timeout: 60_000 }).toBe('running')
    await native().json('DELETE', `/v1/containers/${other}`)
    await expect.poll(async () => (await native().call('GET', `/v1/commands/${id}`)).status, { timeout: 90_000 }).toBe(404)
  })
})
