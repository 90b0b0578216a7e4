import * as z from 'zod'
import { json } from '../../../http/responses.ts'
import { defineRoute, type AnyRoute, type Call } from '../../../http/route.ts'
import { listSchema } from '../../../http/schemas.ts'
import { LINK_PARAMETER, MAX_PORT, portOrigin } from '../../../model/containers/container-label.ts'
import type { Container } from '../../../model/containers/container.ts'
import { ServiceError } from '../../../model/errors.ts'
import { answerSchema, lazySchema, type Described } from '../../../model/lazy-schema.ts'
import { containerOf } from '../../../operations/access.ts'

const PATH = '/v1/containers/{container_id}/ports'
const TAG = 'Ports'
const DAY_SECONDS = 86_400
/** The gateway of the network listens there. */
const RESERVED_PORT = 3128

const fields = () => ({
  object: z.literal('container.port'),
  container_id: z.string(),
  port: z.int(),
  origin: z.string().openapi({ description: 'The address of the port, for visitors with a credential.' }),
  created_at: z.string(),
  expires_at: z.string(),
})
const Port = answerSchema(() => z.object(fields()).openapi('ContainerPort'))
const OpenedPort = answerSchema(() =>
  z
    .object({
      ...fields(),
      url: z
        .string()
        .openapi({ description: 'Opens the port in one browser, once. The browser gets a cookie for the origin of the port.' }),
      url_expires_at: z.string(),
      token: z.string().openapi({ description: 'For programs, in the header `Cellblock-Port-Token`. It never reaches the sandbox.' }),
    })
    .openapi('OpenedContainerPort'),
)
const Body = lazySchema(() =>
  z.strictObject({
    port: z.int().min(1).max(MAX_PORT),
    expires_in_seconds: z
      .int()
      .min(60)
      .max(7 * DAY_SECONDS)
      .default(DAY_SECONDS),
  }),
)

function portsOf({ deps: { webPorts } }: Pick<Call, 'deps'>): NonNullable<Call['deps']['webPorts']> {
  if (webPorts !== undefined) return webPorts
  throw new ServiceError(
    'not_offered',
    'This deployment cannot publish ports of sandboxes: that needs a server on one machine with a domain for them (CELLBLOCK_PORTS_DOMAIN). docs/ports.md says more.',
  )
}

interface Published {
  readonly port: number
  readonly publishedAt: number
  readonly expiresAt: number
}

function render(call: Pick<Call, 'deps' | 'publicUrl'>, container: Container, published: Published): Described<typeof Port> {
  const { port, publishedAt, expiresAt } = published
  return {
    object: 'container.port',
    container_id: container.id,
    port,
    origin: portOrigin({ container, port }, portsOf(call).domain, call.publicUrl),
    created_at: new Date(publishedAt).toISOString(),
    expires_at: new Date(expiresAt).toISOString(),
  }
}

const publishRoute = defineRoute({
  method: 'post',
  path: PATH,
  auth: 'session',
  scope: 'run',
  operationId: 'publishContainerPort',
  tag: TAG,
  summary: 'Publish a port of a container',
  description:
    'Visitors with a credential reach the program that listens on the port. A repetition keeps the credentials, moves the end and answers a new link. Needs a server on one machine.',
  body: Body,
  answers: { 200: { description: 'The port is published.', schema: OpenedPort } },
  errors: ['container_not_found', 'unsupported_value', 'limit_exceeded', 'not_offered'],
  async handle(call) {
    const { body, caller } = call
    const container = await containerOf(call, call.param('container_id'), 'run')
    const ports = portsOf(call)
    const { port } = body
    if (port === RESERVED_PORT)
      throw new ServiceError(
        'unsupported_value',
        `Port ${port} is that of the network in the sandbox. Let the program listen on another one.`,
        {
          param: 'port',
        },
      )
    const { link, linkExpiresAt, token, published } = await ports.published.publish(
      { tenant: caller.tenant, containerId: container.id, port },
      body.expires_in_seconds,
    )
    const shown = render(call, container, published)
    return json(200, {
      ...shown,
      url: `${shown.origin}/?${LINK_PARAMETER}=${link}`,
      url_expires_at: new Date(linkExpiresAt).toISOString(),
      token,
    })
  },
})

const listRoute = defineRoute({
  method: 'get',
  path: PATH,
  auth: 'session',
  scope: 'read',
  operationId: 'listContainerPorts',
  tag: TAG,
  summary: 'List the published ports of a container',
  answers: { 200: { description: 'The ports, without their credentials.', schema: listSchema(Port, 'ContainerPortList') } },
  errors: ['container_not_found', 'not_offered'],
  async handle(call) {
    const container = await containerOf(call, call.param('container_id'), 'read')
    const found = await portsOf(call).published.list(call.caller.tenant, container.id)
    const data = found.map((one) => render(call, container, one))
    return json(200, { object: 'list', data, first_id: null, last_id: null, has_more: false })
  },
})

const unpublishRoute = defineRoute({
  method: 'delete',
  path: `${PATH}/{port}`,
  auth: 'session',
  scope: 'run',
  operationId: 'unpublishContainerPort',
  tag: TAG,
  summary: 'Unpublish a port of a container',
  description: 'Its links and credentials end at once, and its open connections within two seconds. The program runs on.',
  answers: {
    200: {
      description: 'The port is not published.',
      schema: () =>
        z.object({ object: z.literal('container.port.deleted'), port: z.int(), deleted: z.boolean() }).openapi('UnpublishedContainerPort'),
    },
  },
  errors: ['container_not_found', 'not_found', 'not_offered'],
  async handle(call) {
    const container = await containerOf(call, call.param('container_id'), 'run')
    const port = Number(call.param('port'))
    if (!Number.isInteger(port) || port < 1 || port > MAX_PORT)
      throw new ServiceError('not_found', 'The port must be a number from 1 to 65535.')
    const deleted = await portsOf(call).published.unpublish({ tenant: call.caller.tenant, containerId: container.id, port })
    return json(200, { object: 'container.port.deleted', port, deleted })
  },
})

export const portRoutes: readonly AnyRoute[] = [publishRoute, listRoute, unpublishRoute]
