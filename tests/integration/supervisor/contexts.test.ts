import { afterAll, beforeAll, expect, it } from 'vitest'
import { startReadySandbox, type TestSandbox } from './start-sandbox.ts'

let sandbox: TestSandbox
beforeAll(async () => void (sandbox = await startReadySandbox()))
afterAll(() => sandbox[Symbol.asyncDispose]())

const run = (code: string, options: Readonly<Record<string, unknown>> = {}) => sandbox.supervisor.run(code, options)
const inContext = (context: string, code: string, options: Readonly<Record<string, unknown>> = {}) => run(code, { context, ...options })

it('gives each context its own variables, functions, history and folder', async () => {
  await run('x = 1\nimport os')
  await inContext('a', 'x = 2\ndef f(): return x\nos = None')
  await inContext('b', 'import os; os.makedirs("deep", exist_ok=True); os.chdir("deep"); x = 3')
  expect((await inContext('a', 'print(f(), x, In[-1][:7], __name__)')).stdout).toBe('2 2 print(f __main__\n')
  expect((await inContext('b', 'print(x, os.path.basename(os.getcwd()))')).stdout).toBe('3 deep\n')
  expect((await run('print(x, os.getcwd(), "f" in globals())')).stdout).toBe('1 /mnt/data False\n')
  expect((await inContext('c', 'x')).error).toMatchObject({ name: 'NameError' })
})

it('begins a context in the folder of its first execution', async () => {
  expect((await inContext('in-tmp', 'y = 1; import os; print(os.getcwd())', { cwd: '/tmp' })).stdout).toBe('/tmp\n')
  expect((await inContext('in-tmp', 'print(os.getcwd())', { cwd: '/mnt/data' })).stdout).toBe('/tmp\n')
  expect((await inContext('nowhere', '1', { cwd: '/no-such-folder' })).error?.value).toContain('cannot be entered')
})

it('gives each context its own shell', async () => {
  await inContext('a', 'v=1; cd /tmp', { language: 'bash' })
  expect((await inContext('a', 'echo $v $PWD', { language: 'bash' })).stdout).toBe('1 /tmp\n')
  expect((await run('echo "$v" $PWD', { language: 'bash' })).stdout).toBe(' /mnt/data\n')
})

it('interrupts code in a context and returns to the namespace of the kernel', async () => {
  const stopped = await inContext('a', 'import time; time.sleep(60)', { timeout_ms: 500 })
  expect(stopped.done.outcome).toBe('timed_out')
  expect((await run('print(x)')).stdout).toBe('1\n')
})

it('names contexts as lost in a snapshot, except one without variables', async () => {
  await inContext('b', 'get_ipython().run_line_magic("reset", "-f")\nimport os; os.chdir("/mnt/data")\ndel os')
  await inContext('empty', 'pass')
  const answer = await sandbox.supervisor.call('POST', '/snapshot')
  const lost = (JSON.parse(answer.trailers['cellblock-lost'] ?? '[]') as { what: string }[]).map(({ what }) => what)
  expect(lost).toContain('context a')
  expect(lost).not.toContain('context empty')
})

it('refuses another name and more than 64 contexts', async () => {
  for (const context of ['', 'a b', 'x'.repeat(65), 'ü'])
    expect(
      (await sandbox.supervisor.call('PUT', '/executions/refused', Buffer.from(JSON.stringify({ v: 1, cells: [{ code: '1' }], context }))))
        .status,
    ).toBe(400)
  for (let n = 0; n < 64; n++) await inContext(`many-${n}`, 'z = 1')
  expect((await inContext('one-more', 'z = 1')).error?.value).toContain('64 contexts, the maximum')
  expect((await run('print(x)')).stdout).toBe('1\n')
})
