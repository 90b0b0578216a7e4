import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, inject, it } from 'vitest'
import { startServer, type LocalServerProcess } from '../support/local-server.ts'
import { internetAuthority, startMirror, type Mirror } from '../support/mirror.ts'
import { callNative, type NativeClient } from '../support/native-client.ts'
import { ensureNetworkClientsImage } from '../support/network-clients-image.ts'
import { createNpmMirror, createPyPiMirror } from '../support/package-mirrors.ts'

const ADMIN = 'ak_test_0123456789abcdef0123456789'
const PYPI = ['pypi.org', 'files.pythonhosted.org']
const NPM = 'registry.npmjs.org'
const run = promisify(execFile)

let folder: string
let mirrors: readonly Mirror[] = []
let server: LocalServerProcess
let api: NativeClient

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'cellblock-packages-'))
  await writeFile(join(folder, 'ca.pem'), (await internetAuthority()).certificate)
  const pypi = await startMirror(PYPI, await createPyPiMirror(folder, 'tiny_answer'))
  const npm = await startMirror([NPM], await createNpmMirror(folder, 'tiny-answer'))
  mirrors = [pypi, npm]
  const hosts = [...PYPI.map((host) => `${host}=127.0.0.1:${pypi.port}`), `${NPM}=127.0.0.1:${npm.port}`]
  server = await startServer({
    env: {
      CELLBLOCK_SANDBOX_IMAGE: await ensureNetworkClientsImage(inject('sandboxImage')),
      CELLBLOCK_ADMIN_KEY: ADMIN,
      CELLBLOCK_NETWORK: 'on',
      CELLBLOCK_NETWORK_CA: join(folder, 'ca.pem'),
      CELLBLOCK_NETWORK_PRIVATE_HOSTS: hosts.join(','),
      CELLBLOCK_IDLE_SECONDS: '5',
    },
  })
  const admin = server.as(ADMIN)
  const policy = { presets: ['pypi', 'npm'] }
  const tenant = await admin.json<{ id: string }>('POST', '/v1/admin/tenants', {
    name: 'packages',
    network: { ceiling: policy, default: policy },
  })
  const key = await admin.json<{ api_key: string }>('POST', `/v1/admin/tenants/${tenant.id}/keys`, {
    name: 'test',
    scopes: ['run', 'read'],
  })
  api = callNative(server.url, key.api_key)
})
afterAll(async () => {
  await server?.stop()
  await Promise.all(mirrors.map((mirror) => mirror[Symbol.asyncDispose]()))
  await rm(folder, { recursive: true, force: true })
})

/** The number of sandboxes of this server. */
const sandboxes = async (): Promise<number> =>
  (await run('docker', ['ps', '-aq', '--filter', `label=cellblock.stage=${server.stage}`])).stdout.split('\n').filter(Boolean).length
const hibernated = (): Promise<void> => expect.poll(sandboxes, { timeout: 60_000, interval: 500 }).toBe(0)
interface CommandResult {
  readonly stdout: string
  readonly stderr: string
  readonly lost: readonly unknown[]
}
const command = (id: string, line: string): Promise<CommandResult> =>
  api.json<CommandResult>('POST', `/v1/containers/${id}/commands?wait=60`, { argv: ['bash', '-lc', line] })

/** More than what is kept with temporary files: as large as numpy with its libraries. */
const LARGE = `
import os, site
with open(os.path.join(site.getusersitepackages(), "tiny_data.bin"), "wb") as file:
    file.write(os.urandom(40 << 20))
del file`

it('keeps packages that code installed, for code and for programs', async () => {
  const id = await api.createContainer()
  const installed = await api.run(
    id,
    `!pip install --quiet tiny-answer\nimport tiny_answer\nanswer = tiny_answer${LARGE}\nprint(answer.ANSWER)`,
  )
  expect(installed).toMatchObject({ status: 'succeeded', stdout: '42\n', lost: [] })
  await hibernated()
  expect(await command(id, 'python3 -c "import tiny_answer; print(tiny_answer.ANSWER)"')).toMatchObject({ stdout: '42\n', lost: [] })
  const after = await api.run(
    id,
    `import os, site\nprint(answer.ANSWER, os.path.getsize(site.getusersitepackages() + "/tiny_data.bin") >> 20)`,
  )
  expect(after).toMatchObject({ stdout: '42 40\n', lost: [] })
})

it('keeps packages that a program installed after the container had slept', async () => {
  const id = await api.createContainer()
  await api.run(id, 'kept = 1')
  await hibernated()
  expect((await command(id, 'pip install --quiet tiny-answer 2>&1')).stdout).toBe('')
  await hibernated()
  expect(await api.run(id, 'import tiny_answer\nprint(kept, tiny_answer.ANSWER)')).toMatchObject({ stdout: '1 42\n', lost: [] })
})

it('keeps the modules of npm as files', async () => {
  const id = await api.createContainer()
  expect(await command(id, 'npm install tiny-answer >/dev/null 2>&1; node -p "require(\'tiny-answer\')"')).toMatchObject({ stdout: '42\n' })
  await hibernated()
  expect(await command(id, 'node -p "require(\'tiny-answer\')"')).toMatchObject({ stdout: '42\n', lost: [] })
})
