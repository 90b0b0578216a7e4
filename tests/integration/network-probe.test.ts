import { randomUUID } from 'node:crypto'
import { createSocket } from 'node:dgram'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { runCommand } from '../../scripts/setup/command.ts'

/** Servers for everything that a sandbox must not reach: keys, uploads, connections and names. */
const puts: string[] = []
const web = createServer((request, response) => {
  if (request.method === 'PUT') puts.push(`${request.headers.host} ${request.url}`)
  response.end(request.url === '/keys' ? '{"AccessKeyId":"AKIA"}' : 'hello')
})
const resolver = createSocket('udp4', (question, from) => {
  // Any DNS reply counts; its content is not checked.
  const answer = Buffer.from(question)
  answer.writeUInt16BE(1, 6)
  resolver.send(answer, from.port, from.address)
})
let port: number
let dns: number
beforeAll(async () => {
  await new Promise<void>((resolve) => web.listen(0, '127.0.0.1', resolve))
  await new Promise<void>((resolve) => resolver.bind(0, '127.0.0.1', resolve))
  port = (web.address() as AddressInfo).port
  dns = resolver.address().port
})
afterAll(() => {
  web.close()
  web.closeAllConnections()
  resolver.close()
})

const CLOSED = ['127.0.0.1', 9] as const
const nothing = () => ({
  internet: [CLOSED],
  name: 'probe.invalid',
  resolvers: [CLOSED],
  credentials: ['http://127.0.0.1:9/keys'],
  put_url: 'http://foreign.invalid:9/key?X-Amz-Signature=1',
  put_via: CLOSED,
  neighbours: [CLOSED],
})
const open = (): readonly [string, number] => ['127.0.0.1', port]

/** Runs the probe as a task does: the image's entry point with a command. */
async function probe(targets: object, network: 'none' | 'host', env: readonly string[] = []): Promise<number> {
  const name = `cellblock-test-${randomUUID()}`
  const flags = ['--rm', '--name', name, '--network', network, '--read-only', '--cap-drop', 'ALL', '--log-driver', 'none']
  const variables = [`CELLBLOCK_PROBE=${JSON.stringify(targets)}`, ...env].flatMap((variable) => ['--env', variable])
  const { code, output } = await runCommand('docker', ['run', ...flags, ...variables, inject('sandboxImage'), 'probe-network'], {
    timeoutSeconds: 50,
  })
  if (code === 124) await runCommand('docker', ['rm', '--force', name])
  expect(output).not.toContain('Traceback')
  return code
}

describe('the network probe', () => {
  it('exits with 32 when everything is blocked, and sets one bit per open path', async () => {
    const targets = (change: object) => ({ ...nothing(), ...change })
    const [shut, ...fallen] = await Promise.all([
      probe(nothing(), 'host'),
      probe(targets({ internet: [CLOSED, open()] }), 'host'),
      probe(targets({ resolvers: [['127.0.0.1', dns]] }), 'host'),
      probe(targets({ credentials: [`http://127.0.0.1:${port}/keys`] }), 'host'),
      probe(targets({ put_url: `http://foreign.invalid:${port}/key?X-Amz-Signature=1`, put_via: open() }), 'host'),
      probe(targets({ neighbours: [open()] }), 'host'),
    ])
    expect(shut).toBe(32)
    expect(fallen).toEqual([33, 34, 36, 40, 48])
    expect(puts).toEqual([`foreign.invalid:${port} /key?X-Amz-Signature=1`])
  })

  it('sets every bit when every path is open and the environment has credentials', async () => {
    const world = { internet: [open()], name: 'localhost', put_url: `http://127.0.0.1:${port}/key`, put_via: open(), neighbours: [open()] }
    expect(await probe({ ...nothing(), ...world }, 'host', ['AWS_CONTAINER_CREDENTIALS_RELATIVE_URI=/v2/x'])).toBe(63)
  })

  it('finds everything blocked from inside an isolated network', async () => {
    const world = {
      internet: [open()],
      resolvers: [['127.0.0.1', dns]],
      credentials: [`http://127.0.0.1:${port}/keys`],
      neighbours: [open()],
    }
    expect(await probe({ ...nothing(), ...world }, 'none')).toBe(32)
  })
})
