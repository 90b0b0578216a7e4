import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startServer, type LocalServerProcess } from '../support/local-server.ts'
import type { NativeClient, WireExecution } from '../support/native-client.ts'

const MAIN = join(import.meta.dirname, '../../scripts/cli/main.ts')
const MiB = 1024 * 1024

let server: LocalServerProcess
let client: NativeClient
let tenant: string
let containerId: string

const cli = async (...args: readonly string[]): Promise<string> =>
  (
    await promisify(execFile)(process.execPath, ['--disable-warning=ExperimentalWarning', MAIN, ...args], {
      env: { ...process.env, PORT: new URL(server.url).port, TABLE_NAME: '' },
    })
  ).stdout

beforeAll(async () => {
  server = await startServer({ env: { CELLBLOCK_POOL: '0' } })
  const made = JSON.parse(await cli('tenants', 'create', 'limited', '--json')) as { id: string; api_key: string }
  tenant = made.id
  client = server.as(made.api_key)
  // Before the first call, since an answer is believed for ten seconds.
  await cli(
    ...['tenants', 'limits', tenant, 'processes=64', 'open_files=128', 'disk_bytes=32m', 'inodes=1000', 'file_bytes=8m'],
    ...['cpu_seconds=1', 'output_bytes=1m', 'displays=3', 'files_per_execution=2', 'live_containers=1', 'timeout_seconds=30'],
  )
  containerId = await client.createContainer()
})
afterAll(() => server.stop())

const run = (code: string): Promise<WireExecution> =>
  client.run(containerId, { code: `import os, errno, threading\n${code}`, timeout_seconds: 30 })
const expectUsable = async (): Promise<void> => expect((await run('print("on")')).stdout).toBe('on\n')

describe('inside a sandbox of a tenant with its own limits', () => {
  it.each([
    [
      'processes',
      'n, go = 0, threading.Event()\ntry:\n    while n < 500: threading.Thread(target=go.wait).start(); n += 1\nexcept RuntimeError: print(n < 64)\ngo.set()',
      'True\n',
    ],
    [
      'open files',
      'fds = []\ntry:\n    while True: fds.append(os.dup(1))\nexcept OSError as e: print(e.errno == errno.EMFILE, len(fds) < 128)\nfor fd in fds: os.close(fd)',
      'True True\n',
    ],
    [
      'one file',
      'try: open("/mnt/data/big", "wb").write(bytes(9 << 20))\nexcept OSError as e: print(e.errno == errno.EFBIG)\nos.unlink("/mnt/data/big")',
      'True\n',
    ],
    [
      'all files',
      'n = 0\ntry:\n    while n < 64: open(f"/mnt/data/f{n}", "wb", buffering=0).write(bytes(1 << 20)); n += 1\nexcept OSError as e: print(e.errno == errno.ENOSPC, n <= 32)\nfor i in range(n + 1): os.unlink(f"/mnt/data/f{i}")',
      'True True\n',
    ],
    [
      'inodes',
      'n = 0\ntry:\n    while n < 2000: open(f"/mnt/data/i{n}", "w").close(); n += 1\nexcept OSError as e: print(e.errno == errno.ENOSPC, n <= 1000)\nfor i in range(n): os.unlink(f"/mnt/data/i{i}")',
      'True True\n',
    ],
  ])('%s are limited by the policy', async (_name, code, stdout) => {
    expect((await run(code)).stdout).toBe(stdout)
    await expectUsable()
  })

  it('processor time ends in cpu_limit and keeps the variables', async () => {
    const execution = await run('kept = 3\nwhile True: pass')
    expect(execution).toMatchObject({ status: 'timed_out', reason: 'cpu_limit', error: { name: 'KeyboardInterrupt' } })
    expect(execution.usage['cpu_ms']).toBeGreaterThan(900)
    expect((await run('print(kept)')).stdout).toBe('3\n')
  })

  it('sleeping uses no processor time', async () => {
    expect((await run('import time\ntime.sleep(1.5)')).status).toBe('succeeded')
  })

  it('output ends in output_limit', async () => {
    expect(await run('while True: print("x" * 1000)')).toMatchObject({ status: 'failed', reason: 'output_limit' })
    await expectUsable()
  })

  it('displays and files beyond their limit are reported', async () => {
    const shown = await run('from IPython.display import display\nfor i in range(5): display({"text/plain": str(i)}, raw=True)')
    expect(shown.outputs?.filter(({ output_type }) => output_type === 'display_data')).toHaveLength(3)
    expect(shown.lost).toMatchObject([{ what: 'display', reason: expect.stringContaining('too_many_displays') }])
    const made = await run('for name in "abc": open(f"/mnt/data/{name}", "w").write("x")')
    expect(made.files).toHaveLength(2)
    expect(made.lost).toMatchObject([{ what: 'files', reason: expect.stringContaining('2 of 3') }])
  })

  it('another container waits until this one is deleted', async () => {
    const other = await client.createContainer()
    const refused = await client.call('POST', `/v1/containers/${other}/executions`, { code: '1' })
    expect([refused.status, ((await refused.json()) as { error: { code: string } }).error.code]).toEqual([429, 'concurrency_limit_reached'])
    await client.call('DELETE', `/v1/containers/${containerId}`)
    await expect
      .poll(async () => (await client.call('POST', `/v1/containers/${other}/executions?wait=0`, { code: '1' })).status, { timeout: 30_000 })
      .toBe(202)
  })
})

describe('tenants limits', () => {
  it('shows tenant limits beside the defaults and resets them', async () => {
    expect(await cli('tenants', 'limits', tenant)).toMatch(/disk_bytes +33554432 +tenant /)
    const after = JSON.parse(await cli('tenants', 'limits', tenant, 'disk_bytes=default', 'memory_limit=4g', '--json')) as {
      limits: object
    }
    expect(after.limits).toMatchObject({ disk_bytes: { value: 1024 * MiB }, memory_limit: { value: '4g' }, processes: { value: 64 } })
  })

  it.each([
    ['gpus=1', /gpus/],
    ['processes=1', /limits\.processes.*32/],
    ['disk_bytes=lots', /limits\.disk_bytes.*number/],
    ['memory_limit=2g', /limits\.memory_limit.*1g/],
  ])('refuses %s with an explanation', async (word, sentence) => {
    await expect(cli('tenants', 'limits', tenant, word)).rejects.toMatchObject({ code: 3, stderr: expect.stringMatching(sentence) })
  })
})
