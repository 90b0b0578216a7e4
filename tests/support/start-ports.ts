import { createServer, request, type IncomingHttpHeaders, type RequestListener, type Server } from 'node:http'
import { connect, type AddressInfo } from 'node:net'
import { newSandbox } from '../../services/operations/sandboxes/new-sandbox.ts'
import { SupervisorError } from '../../services/ports/supervisor.ts'
import { startApi, type TestApi, type TestKey } from './start-api.ts'

export interface Published {
  readonly port: number
  readonly origin: string
  readonly url: string
  readonly token: string
  readonly expires_at: string
}

interface Answer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly text: string
}

export interface TestPorts {
  readonly api: TestApi
  /** A container with a sandbox in which the program listens. */
  container(key?: TestKey): Promise<string>
  /** Gives a container that has none a sandbox. */
  giveSandbox(container: { readonly tenant: string; readonly id: string }): Promise<void>
  publish(containerId: string, port?: number, key?: TestKey): Promise<Published>
  /** Requests of programs to the address of a port; any `Host` can be sent. */
  visit(address: string, options?: { method?: string; headers?: Record<string, string>; body?: string }): Promise<Answer>
  /** The cookie that a browser gets by the link. */
  open(published: Published, headers?: Record<string, string>): Promise<string>
  program: Server
  stop(): Promise<void>
}

/** The API with a port proxy, and one program that listens on PORT of every sandbox. */
export const PORT = 8501

export async function startPorts(listener: RequestListener, options: Parameters<typeof startApi>[0] = {}): Promise<TestPorts> {
  const program = createServer(listener)
  await new Promise<void>((resolve) => program.listen(0, '127.0.0.1', resolve))
  const { port: programPort } = program.address() as AddressInfo
  const api = await startApi({
    ...options,
    connectPort: async (_session, port) => {
      if (port !== PORT) throw new SupervisorError('not_found', `Nothing listens on port ${port}.`)
      const socket = connect(programPort, '127.0.0.1')
      await new Promise((resolve, reject) => socket.once('connect', resolve).once('error', reject))
      return socket
    },
  })
  const visit: TestPorts['visit'] = (address, { method = 'GET', headers = {}, body } = {}) => {
    const { host, pathname, search } = new URL(address)
    return new Promise((resolve, reject) => {
      const sent = request(
        {
          host: '127.0.0.1',
          port: new URL(api.url).port,
          method,
          path: `${pathname}${search}`,
          headers: { host, ...headers },
          agent: false,
        },
        (answer) => {
          let text = ''
          answer.setEncoding('utf8').on('data', (piece: string) => (text += piece))
          answer.on('end', () => resolve({ status: answer.statusCode ?? 0, headers: answer.headers, text })).once('error', reject)
        },
      )
      sent.once('error', reject).end(body)
    })
  }
  const giveSandbox: TestPorts['giveSandbox'] = async ({ tenant, id }) => {
    const sandbox = newSandbox({ memoryTier: '1g', image: 'any', claimedBy: { tenant, containerId: id } }, api.now())
    await api.table.sandboxes.create({ ...sandbox, state: 'claimed', address: { kind: 'unix', socketPath: '/nowhere' } })
    await api.table.containers.setSandbox(tenant, id, { generation: 0, sandboxId: sandbox.id, stateLost: null, dueAt: null })
  }
  return {
    api,
    program,
    visit,
    async container(key = api.owner) {
      const { id } = (await (await api.post('/v1/containers', { name: 'x' }, { key })).json()) as { readonly id: string }
      await giveSandbox({ tenant: key.tenant, id })
      return id
    },
    giveSandbox,
    async publish(containerId, port = PORT, key = api.owner) {
      const answer = await api.post(`/v1/containers/${containerId}/ports`, { port }, { key })
      if (answer.status !== 200) throw new Error(await answer.text())
      return (await answer.json()) as Published
    },
    async open({ url }, headers = {}) {
      const answer = await visit(url, { headers })
      if (answer.status !== 303) throw new Error(`${answer.status} ${answer.text}`)
      return String(answer.headers['set-cookie']?.[0]).split(';')[0] ?? ''
    },
    async stop() {
      await api.stop()
      program.closeAllConnections()
      await new Promise((resolve) => program.close(resolve))
    },
  }
}
