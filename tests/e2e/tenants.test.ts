import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createTenant } from '../support/create-tenant.ts'
import { startServer, type LocalServerProcess } from '../support/local-server.ts'
import type { NativeClient } from '../support/native-client.ts'

let server: LocalServerProcess
let alice: NativeClient
let bob: NativeClient

beforeAll(async () => {
  server = await startServer()
  alice = server.as(await createTenant(server, 'alice'))
  bob = server.as(await createTenant(server, 'bob'))
})
afterAll(() => server.stop())

describe('two tenants', () => {
  it('see only their own containers', async () => {
    const container = await alice.createContainer('of alice')
    expect((await alice.json<{ data: unknown[] }>('GET', '/v1/containers')).data).toHaveLength(1)
    expect((await bob.json<{ data: unknown[] }>('GET', '/v1/containers')).data).toEqual([])
    expect((await bob.call('GET', `/v1/containers/${container}`)).status).toBe(404)
  })

  it('get the same reply for foreign ids as for missing ones', async () => {
    const container = await alice.createContainer()
    const execution = await alice.run(container, 'open("secret.txt", "w").write("s"); print("secret")')
    const file = execution.files[0]?.id ?? ''
    const missing = (id: string): string => id.replace(/.$/, (last) => (last === '0' ? '1' : '0'))
    const paths = (c: string, e: string, f: string): [string, string, unknown?][] => [
      ['GET', `/v1/containers/${c}`],
      ['DELETE', `/v1/containers/${c}`],
      ['GET', `/v1/containers/${c}/files`],
      ['GET', `/v1/containers/${c}/files/${f}`],
      ['GET', `/v1/containers/${c}/files/${f}/content`],
      ['DELETE', `/v1/containers/${c}/files/${f}`],
      ['POST', `/v1/containers/${c}/executions`, { code: '1' }],
      ['GET', `/v1/containers/${c}/executions`],
      ['GET', `/v1/containers/${c}/notebook.ipynb`],
      ['GET', `/v1/executions/${e}`],
      ['GET', `/v1/executions/${e}/events`],
      ['GET', `/v1/executions/${e}/notebook.ipynb`],
      ['POST', `/v1/executions/${e}/cancel`],
      ['POST', '/v1/responses', { model: 'demo', input: 'x', tools: [{ type: 'code_interpreter', container: c }] }],
    ]
    const foreign = paths(container, execution.id, file)
    const absent = paths(missing(container), missing(execution.id), missing(file))
    for (const [index, [method, path, body]] of foreign.entries()) {
      const [, absentPath, absentBody] = absent[index] ?? ['', '']
      const [theirs, nobodys] = await Promise.all([bob.call(method, path, body), bob.call(method, absentPath, absentBody)])
      expect([method, path, theirs.status]).toEqual([method, path, 404])
      const neutral = (text: string): string => text.replaceAll(/(cntr_|exec_|cfile_|req_)\w+/g, '$1…')
      expect(neutral(await theirs.text())).toBe(neutral(await nobodys.text()))
      expect([...theirs.headers.keys()]).toEqual([...nobodys.headers.keys()])
    }
    expect((await alice.run(container, 'print(open("secret.txt").read())')).stdout).toBe('s\n')
  })

  it('are refused without a key and with a wrong one', async () => {
    for (const key of ['', 'ck_wrong']) {
      const answer = await server.as(key).call('GET', '/v1/containers')
      expect(answer.status).toBe(401)
      expect(await answer.json()).toMatchObject({ error: { type: 'authentication_error', code: 'invalid_api_key' } })
    }
  })
})
