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
  runCode(code: string): Promise<{ readonly error?: unknown; readonly logs: { readonly stdout: readonly string[] } }>
}

/** The container as a sandbox of E2B's own client, which is installed with the other third-party clients. */
export async function connectE2b({ url, apiKey }: Pick<LocalServerProcess, 'url' | 'apiKey'>, containerId: string): Promise<E2bSandbox> {
  const require = createRequire(join(import.meta.dirname, '../client-compat/package.json'))
  const { Sandbox } = require('@e2b/code-interpreter') as {
    Sandbox: {
      getInfo(id: string, options: object): Promise<{ readonly sandboxId: string }>
      connect(id: string, options: object): Promise<E2bSandbox>
    }
  }
  const options = { apiKey, apiUrl: `${url}/e2b`, sandboxUrl: `${url}/e2b` }
  return Sandbox.connect((await Sandbox.getInfo(containerId, options)).sandboxId, options)
}

/** The parts of the client of n8n's sandbox service that tests call. */
export interface N8nClient {
  createSandbox(options?: { readonly id: string }): Promise<{ readonly id: string }>
  getSandbox(id: string): Promise<unknown>
  exec(id: string, request: { readonly command: string }): Promise<N8nResult>
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
