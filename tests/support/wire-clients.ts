import { createRequire } from 'node:module'
import { join } from 'node:path'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import type { LocalServerProcess } from './local-server.ts'

export async function connectMcp({ url, apiKey }: Pick<LocalServerProcess, 'url' | 'apiKey'>): Promise<Client> {
  const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode: 'auto' } })
  const authProvider = { token: async () => apiKey }
  await client.connect(new StreamableHTTPClientTransport(new URL(`${url}/mcp`), { authProvider }))
  return client
}

export interface E2bSandbox {
  readonly files: { write(path: string, text: string): Promise<unknown> }
  readonly commands: { run(line: string): Promise<{ readonly stdout: string; readonly exitCode: number }> }
  getHost(port: number): string
  readonly trafficAccessToken?: string
  kill(): Promise<unknown>
  runCode(code: string): Promise<{ readonly error?: unknown; readonly logs: { readonly stdout: readonly string[] } }>
}

/** E2B's own client, which is installed with the other third-party clients. */
function e2bClient({ url, apiKey }: Pick<LocalServerProcess, 'url' | 'apiKey'>) {
  const require = createRequire(join(import.meta.dirname, '../client-compat/package.json'))
  const { Sandbox } = require('@e2b/code-interpreter') as {
    Sandbox: {
      getInfo(id: string, options: object): Promise<{ readonly sandboxId: string }>
      connect(id: string, options: object): Promise<E2bSandbox>
      create(options: object): Promise<E2bSandbox>
    }
  }
  return { Sandbox, options: { apiKey, apiUrl: `${url}/e2b`, sandboxUrl: `${url}/e2b` } }
}

/** The container as a sandbox of E2B's own client. */
export async function connectE2b(server: Pick<LocalServerProcess, 'url' | 'apiKey'>, containerId: string): Promise<E2bSandbox> {
  const { Sandbox, options } = e2bClient(server)
  return Sandbox.connect((await Sandbox.getInfo(containerId, options)).sandboxId, options)
}

/** A new sandbox of E2B's own client. */
export async function createE2b(server: Pick<LocalServerProcess, 'url' | 'apiKey'>, more: object = {}): Promise<E2bSandbox> {
  const { Sandbox, options } = e2bClient(server)
  return Sandbox.create({ ...options, ...more })
}

/** The parts of the client of n8n's sandbox service that tests call. */
export interface N8nClient {
  createSandbox(options?: { readonly id: string }): Promise<{ readonly id: string }>
  getSandbox(id: string): Promise<unknown>
  exec(id: string, request: { readonly command: string; readonly workdir?: string }): Promise<N8nResult>
  mkdir(id: string, path: string, isRecursive?: boolean): Promise<void>
  writeFile(id: string, path: string, content: string): Promise<void>
  readFile(id: string, path: string): Promise<Buffer>
  resumeExecution(id: string, execId: string, afterSeq?: number): Promise<N8nResult>
}
interface N8nResult {
  readonly stdout: string
  readonly stderr: string
  readonly exitCode: number
}

/** The client of n8n's sandbox service, which is installed with the other third-party clients. */
export function connectN8n(baseUrl: string, apiKey: string): N8nClient {
  const require = createRequire(join(import.meta.dirname, '../client-compat/package.json'))
  const { SandboxClient } = require('@n8n/sandbox-client') as { SandboxClient: new (options: object) => N8nClient }
  return new SandboxClient({ baseUrl, apiKey })
}
