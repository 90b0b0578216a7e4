import { randomUUID } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import Docker from 'dockerode'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { serverSbomOf } from '../../scripts/image-sbom.ts'
import { runCommand } from '../../scripts/setup/command.ts'
import { ensureServerImage } from '../../scripts/setup/server-image.ts'
import { containerOptions, SHARES_WHEN_READY } from '../../services/adapters/drivers/docker/container-options.ts'
import { controlFolder } from '../../services/adapters/drivers/docker/control-folder.ts'
import { DEFAULT_LIMITS } from '../../services/adapters/drivers/docker/limits.ts'
import { readSeccompProfile } from '../../services/adapters/drivers/docker/seccomp-profile.ts'
import { newId } from '../../services/model/ids.ts'
import { composeProgram, composeProject, type ComposeProject } from '../support/compose.ts'
import { callNative, type NativeClient } from '../support/native-client.ts'

const ROOT = join(import.meta.dirname, '../..')
const docker = new Docker()
let serverImage: string
let project: ComposeProject
let native: NativeClient

beforeAll(async () => {
  serverImage = await ensureServerImage((line) => console.error(line))
  project = await composeProject({ name: `cellblock-test-${process.pid}`, serverImage, sandboxImage: inject('sandboxImage') })
  native = callNative(project.url, project.apiKey)
  await project.run('up', '--detach', '--wait', '--no-build')
}, 900_000)
afterAll(async () => void (await project.run('down', '--volumes', '--timeout', '30')))

const ownContainers = async (label: string): Promise<Docker.ContainerInfo[]> =>
  docker.listContainers({ all: true, filters: { label: [label] } })
const proxyLabel = async (): Promise<string> => {
  const found = await ownContainers(`com.docker.compose.project=${project.name}`)
  const proxy = found.find(({ Labels }) => Labels['com.docker.compose.service'] === 'engine-proxy')
  const source = proxy?.Mounts.find(({ Destination }) => Destination === '/run/cellblock/control')?.Name ?? ''
  expect(source).not.toBe('')
  return source
}

interface Asked {
  readonly method: string
  readonly path: string
  readonly body?: unknown
}

/** Sends requests to the engine proxy from inside the server's container, as an attacker would who controls the server. */
async function asServer(requests: readonly Asked[]): Promise<readonly { readonly status: number; readonly text: string }[]> {
  const program = `
    import { request } from 'node:http'
    const ask = ({ method, path, body }) => new Promise((resolve, reject) => {
      const text = body === undefined ? '' : JSON.stringify(body)
      request({ socketPath: '/run/cellblock/engine/docker.sock', method, path, headers: { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) } }, async (answer) => {
        const parts = []
        for await (const part of answer) parts.push(part)
        resolve({ status: answer.statusCode, text: Buffer.concat(parts).toString() })
      }).on('error', reject).end(text)
    })
    const answers = []
    for (const one of JSON.parse(Buffer.from(process.argv[1], 'base64'))) answers.push(await ask(one))
    console.log(JSON.stringify(answers))`
  const given = Buffer.from(JSON.stringify(requests)).toString('base64')
  return JSON.parse(await project.run('exec', '--no-TTY', 'cellblock', 'node', '--input-type=module', '-e', program, given)) as readonly {
    status: number
    text: string
  }[]
}

/** A sandbox as the driver asks for it. */
function sandboxBody(): { readonly name: string; readonly body: Record<string, unknown> } {
  const spec = { sandboxId: newId('sandbox'), memoryTier: '1g', publicKey: 'a'.repeat(43), isAwaited: false } as const
  const plan = {
    image: inject('sandboxImage'),
    stage: 'local-test',
    limits: DEFAULT_LIMITS,
    workerUid: 59_999,
    seccompProfile: readSeccompProfile(),
  }
  const options = containerOptions(spec, { ...plan, controlFolder: controlFolder('/run/cellblock/control', spec.sandboxId) })
  return { name: spec.sandboxId, body: JSON.parse(JSON.stringify(options)) as Record<string, unknown> }
}

describe('docker compose up', () => {
  it('runs code in a sandbox, and a stopped and a killed server continue with its variables, files and chats', async () => {
    const container = await native.createContainer()
    const first = await native.run(container, 'x = 41\nopen("kept.txt", "w").write("kept")\nprint(x + 1)')
    expect(first).toMatchObject({ status: 'succeeded', stdout: '42\n' })
    const asked = {
      model: 'demo',
      input: '```python\nprint(6 * 7)\n```',
      tools: [{ type: 'code_interpreter', container: { type: 'auto' } }],
    }
    const response = await native.json<{ id: string }>('POST', '/v1/responses', asked)

    await project.run('restart', '--timeout', '60', 'cellblock')
    await project.run('up', '--detach', '--wait', '--no-build')
    const again = await native.run(container, 'print(x, open("kept.txt").read())')
    expect(again).toMatchObject({ stdout: '41 kept\n', lost: [] })
    expect(await native.json('GET', `/v1/responses/${response.id}`)).toMatchObject({ id: response.id, status: 'completed' })

    const slow = await native.run(container, 'import time\nx += 1\nfor i in range(60):\n  print(i, flush=True)\n  time.sleep(0.1)', 0)
    for await (const event of native.events(slow.id)) if (event.event === 'stdout') break
    await project.run('kill', '--signal', 'KILL', 'cellblock')
    await project.run('up', '--detach', '--wait', '--no-build')
    const numbers = Array.from({ length: 60 }, (_, index) => `${index}\n`).join('')
    expect(await native.ended(slow.id)).toMatchObject({ status: 'succeeded', stdout: numbers })
    expect(await native.run(container, 'print(x)')).toMatchObject({ stdout: '42\n' })
  })

  it('gives the server neither root, nor the socket of the engine, nor a folder that it could swap', async () => {
    const shell = (script: string): Promise<string> => project.run('exec', '--no-TTY', 'cellblock', 'sh', '-c', script)
    expect(await shell('id -u; ls /var/run/docker.sock 2>/dev/null | wc -l; grep CapEff /proc/self/status')).toBe(
      '10001\n0\nCapEff:\t0000000000000000\n',
    )
    expect(await shell('ln -s / /run/cellblock/control/link 2>&1 || true')).toMatch(/Read-only file system|Permission denied/)
    expect(await shell('ls /run/cellblock/control 2>&1 || true')).toMatch(/Permission denied/)
    expect(await shell('touch /opt/cellblock/services/x 2>&1 || true')).toMatch(/Read-only file system/)
  })

  it('creates and removes sandboxes through the proxy, and nothing else', async () => {
    const { name, body } = sandboxBody()
    const create = (changed: object): Asked => ({ method: 'POST', path: `/containers/create?name=${name}`, body: { ...body, ...changed } })
    const hosted = (changed: object): Asked => create({ HostConfig: { ...(body['HostConfig'] as object), ...changed } })
    const foreign = await docker.createContainer({ Image: inject('sandboxImage'), name: `cellblock-foreign-${randomUUID()}` })
    try {
      const refused: readonly Asked[] = [
        hosted({ Privileged: true }),
        hosted({ Binds: ['/:/host'] }),
        hosted({ Mounts: [{ Type: 'bind', Source: '/', Target: '/run/cellblock/control' }] }),
        hosted({ NetworkMode: 'host' }),
        create({ Image: 'cellblock-base:trixie' }),
        create({ Entrypoint: ['/bin/sh'] }),
        { method: 'POST', path: '/containers/create', body: { Image: inject('sandboxImage'), HostConfig: { Privileged: true } } },
        { method: 'POST', path: `/containers/${foreign.id}/exec`, body: { Cmd: ['id'] } },
        { method: 'POST', path: `/v1.41/containers/${foreign.id}/exec`, body: { Cmd: ['id'] } },
        { method: 'POST', path: `/containers/${foreign.id}/%65xec`, body: { Cmd: ['id'] } },
        { method: 'GET', path: `/containers/${foreign.id}/json/../archive?path=/` },
        { method: 'GET', path: `/containers/${foreign.id}/archive?path=/` },
        { method: 'GET', path: `/containers/${foreign.id}/json` },
        { method: 'POST', path: `/containers/${foreign.id}/start` },
        { method: 'POST', path: `/containers/${foreign.id}/wait` },
        { method: 'POST', path: `/containers/${foreign.id}/update`, body: { CpuShares: SHARES_WHEN_READY } },
        { method: 'POST', path: `/containers/${foreign.id}/update`, body: { CpuShares: SHARES_WHEN_READY / 2 } },
        { method: 'DELETE', path: `/containers/${foreign.id}?force=true` },
        { method: 'GET', path: '/containers/json?all=true' },
        { method: 'GET', path: `/containers/json?filters=${encodeURIComponent('{"label":["com.docker.compose.project"]}')}` },
        { method: 'POST', path: '/images/create?fromImage=debian' },
        { method: 'GET', path: '/images/json' },
        { method: 'GET', path: '/images/cellblock-base:trixie/json' },
        { method: 'POST', path: '/build' },
        { method: 'POST', path: '/volumes/create', body: { Name: 'x' } },
        { method: 'GET', path: '/secrets' },
        { method: 'CONNECT', path: '/containers/json' },
      ].filter(({ method }) => method !== 'CONNECT')
      const answers = await asServer(refused)
      expect(
        answers
          .map(({ status }, index) => [refused[index]?.method, refused[index]?.path, status])
          .filter(([, , status]) => status !== 403 && status !== 404),
      ).toEqual([])
      expect((await foreign.inspect()).State.Status).toBe('created')

      // The same body without a change, so that nothing else was the reason.
      const weigh = (body: object): Asked => ({ method: 'POST', path: `/containers/${name}/update`, body })
      const answered = await asServer([
        create({}),
        { method: 'GET', path: `/containers/${name}/json` },
        weigh({ CpuShares: SHARES_WHEN_READY / 2 }),
        weigh({ CpuShares: SHARES_WHEN_READY * 2 }),
        weigh({ CpuShares: SHARES_WHEN_READY, Memory: 0 }),
        { method: 'DELETE', path: `/containers/${name}?force=true` },
        { method: 'GET', path: `/containers/${name}/json` },
      ])
      expect(answered.map(({ status }) => status)).toEqual([201, 200, 200, 403, 403, 204, 404])
    } finally {
      await foreign.remove({ force: true })
    }
  })

  it('removes the folders of ended sandboxes, and every sandbox at the end', async () => {
    const volume = await proxyLabel()
    const container = await native.createContainer()
    await native.run(container, 'pass')
    const sandboxes = async (): Promise<number> =>
      (await ownContainers('cellblock.engine-proxy')).filter(({ Mounts }) => Mounts.some(({ Source }) => Source?.includes(`/${volume}/`)))
        .length
    const folders = async (): Promise<number> =>
      Number(await project.run('exec', '--no-TTY', 'engine-proxy', 'sh', '-c', 'ls -p /run/cellblock/control | grep -c / || true'))
    expect(await sandboxes()).toBeGreaterThan(0)
    await expect.poll(async () => (await folders()) === (await sandboxes())).toBe(true)
    await project.run('stop', '--timeout', '60', 'cellblock')
    expect(await sandboxes()).toBe(0)
    expect(await folders()).toBe(0)
    await project.run('up', '--detach', '--wait', '--no-build')
  })
})

it.each([
  ['librechat', ['CELLBLOCK_API_KEY', 'CREDS_KEY', 'CREDS_IV', 'JWT_SECRET', 'JWT_REFRESH_SECRET'], ['librechat', 'mongodb']],
  ['n8n', ['N8N_SANDBOX_SERVICE_API_KEY'], ['n8n']],
  ['open-webui', ['CELLBLOCK_API_KEY'], ['open-webui']],
])('Compose reads the example %s, which adds to the same project', async (example, variables, services) => {
  const [program, ...first] = await composeProgram()
  const env = { ...process.env, ...Object.fromEntries(variables.map((name) => [name, 'x'])) }
  const file = join(ROOT, 'examples', example, 'compose.yaml')
  const { code, stdout, output } = await runCommand(program, [...first, '--file', file, 'config', '--services'], { env })
  expect(code, output).toBe(0)
  expect(stdout.trim().split('\n').toSorted()).toEqual(['cellblock', 'engine-proxy', 'sandbox-image', ...services].toSorted())
})

it('the bill of materials of the server lists every locked package that it runs, and none of development', async () => {
  const { components } = await serverSbomOf(serverImage)
  const listed = components.flatMap(({ purl }) =>
    purl?.startsWith('pkg:npm/') === true ? [decodeURIComponent(purl.slice('pkg:npm/'.length))] : [],
  )
  interface Locked {
    readonly version?: string
    readonly dev?: boolean
    readonly optional?: boolean
    readonly devOptional?: boolean
  }
  const { packages } = JSON.parse(await readFile(join(ROOT, 'package-lock.json'), 'utf8')) as { packages: Readonly<Record<string, Locked>> }
  const named = (isWanted: (entry: Locked) => boolean): string[] =>
    Object.entries(packages).flatMap(([path, entry]) =>
      path !== '' && isWanted(entry)
        ? [`${path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length)}@${entry.version ?? ''}`]
        : [],
    )
  expect(listed).toEqual(expect.arrayContaining(named(({ dev, optional, devOptional }) => !dev && !optional && !devOptional)))
  expect(listed.filter((one) => /^(?:vitest|esbuild|aws-cdk|oxlint)@/.test(one))).toEqual([])
  expect(components.map(({ name }) => name)).toEqual(expect.arrayContaining(['libc6', 'ca-certificates', 'node']))
})
