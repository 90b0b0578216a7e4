import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { ensureEcsServiceLinkedRole } from '../../../scripts/aws/service-linked-role.ts'

/** IAM's query API: the role exists from the answer to its creation on. */
let server: Server
let calls: string[]
let state: { exists: boolean; createError: string | null; readError: string | null }
beforeEach(async () => {
  calls = []
  state = { exists: false, createError: null, readError: null }
  server = createServer((request, response) => {
    let body = ''
    request.on('data', (part: Buffer) => (body += part.toString()))
    request.on('end', () => {
      const action = new URLSearchParams(body).get('Action') ?? ''
      calls.push(action)
      const error = action === 'GetRole' ? (state.readError ?? (state.exists ? null : 'NoSuchEntity')) : state.createError
      if (action === 'CreateServiceLinkedRole') state.exists = true
      const role = `<Role><RoleName>AWSServiceRoleForECS</RoleName><Path>/</Path><RoleId>1</RoleId><Arn>arn</Arn><CreateDate>2026-01-01T00:00:00Z</CreateDate></Role>`
      if (error === null) response.end(`<${action}Response><${action}Result>${role}</${action}Result></${action}Response>`)
      else response.writeHead(400).end(`<ErrorResponse><Error><Code>${error}</Code><Message>${error}</Message></Error></ErrorResponse>`)
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
})
afterEach(() => {
  server.closeAllConnections()
  server.close()
})
const ensure = () =>
  ensureEcsServiceLinkedRole({
    sdk: {
      endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
      region: 'us-east-1',
      credentials: { accessKeyId: 'a', secretAccessKey: 'b' },
    },
    progress: () => undefined,
  })

it('creates the service-linked role of ECS in a new account and waits until it exists', async () => {
  await ensure()
  expect(calls).toEqual(['GetRole', 'CreateServiceLinkedRole', 'GetRole'])
})

it('only reads a role that exists', async () => {
  state.exists = true
  await ensure()
  expect(calls).toEqual(['GetRole'])
})

it('accepts a role that another deployment has just created', async () => {
  state.createError = 'InvalidInput'
  await ensure()
  expect(calls.at(-1)).toBe('GetRole')
})

it('names the command for an administrator if the credentials have no permission', async () => {
  state.readError = 'AccessDenied'
  await expect(ensure()).rejects.toThrow('aws iam create-service-linked-role --aws-service-name ecs.amazonaws.com')
})
