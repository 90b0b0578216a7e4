import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { PRINT } from '../sides/print.ts'
import type { Bench } from '../bench.ts'
import type { BenchServer } from '../sides/server.ts'
import { timed } from '../sides/time.ts'
import { round, summarize } from '../statistics.ts'

const WARM_UP = 10
const PRINTED = '1'

/** `print(1)` through one wire. Rejects if it prints anything else. */
type RunOnce = () => Promise<void>

async function openMcp(server: BenchServer, container: string): Promise<{ readonly run: RunOnce; readonly close: () => Promise<void> }> {
  const client = new Client({ name: 'bench', version: '1' })
  await client.connect(
    new StreamableHTTPClientTransport(new URL(`${server.url}/mcp`), { authProvider: { token: async () => server.apiKey } }),
  )
  const run = async (): Promise<void> => {
    const answer = await client.callTool({ name: 'execute_code', arguments: { code: PRINT, container_id: container } })
    if (answer.isError === true) throw new Error(`The MCP tool failed: ${JSON.stringify(answer.content)}`)
  }
  return { run, close: () => client.close() }
}

/** A sandbox of E2B's wire, and its code interpreter's route. */
async function openE2b({ api, apiKey }: BenchServer): Promise<RunOnce> {
  const opened = await api.post('/e2b/v2/sandboxes', { 'x-api-key': apiKey }, { templateID: 'base', timeout: 3_600 })
  const { sandboxID, trafficAccessToken } = JSON.parse(opened) as { readonly sandboxID: string; readonly trafficAccessToken: string }
  const headers = { 'e2b-sandbox-id': sandboxID, 'e2b-traffic-access-token': trafficAccessToken }
  return async () => {
    const lines = await api.post('/e2b/execute', headers, { code: PRINT })
    if (!lines.includes('"type":"end_of_execution"') || !lines.includes(`"text":"${PRINTED}\\n"`))
      throw new Error(`E2B's wire answered ${lines}`)
  }
}

/** A container that a hint of LibreChat's wire names. */
function openLibreChat({ api, apiKey }: BenchServer): RunOnce {
  const body = { lang: 'py', code: PRINT, runtime_session_hint: 'bench' }
  return async () => {
    const answer = await api.post('/librechat/v1/exec', { 'x-api-key': apiKey }, body)
    if ((JSON.parse(answer) as { readonly stdout?: string }).stdout !== `${PRINTED}\n`)
      throw new Error(`LibreChat's wire answered ${answer}`)
  }
}

/** `print(1)` in a live container through each wire, one after another, compared with the native wire. */
export const wires: Bench = {
  name: 'wires',
  title: 'print(1) through the other wires, beside the native wire',
  async run({ isQuick, server, liveContainer }) {
    const mcp = await openMcp(server, liveContainer)
    const sides = {
      native: async () => void (await server.api.run(liveContainer, PRINT)),
      mcp: mcp.run,
      e2b: await openE2b(server),
      librechat: openLibreChat(server),
    }
    const times: Record<keyof typeof sides, number[]> = { native: [], mcp: [], e2b: [], librechat: [] }
    const runs = isQuick ? 100 : 500
    try {
      for (let run = -WARM_UP; run < runs; run++)
        for (const [name, once] of Object.entries(sides)) {
          const ms = await timed(once)
          if (run >= 0) times[name as keyof typeof sides].push(ms)
        }
    } finally {
      await mcp.close()
    }
    const figures = {
      native_ms: summarize('ms', times.native),
      mcp_ms: summarize('ms', times.mcp),
      e2b_ms: summarize('ms', times.e2b),
      librechat_ms: summarize('ms', times.librechat),
    }
    const ratioOf = (wire: 'mcp_ms' | 'e2b_ms' | 'librechat_ms'): number => round(figures[wire].median / figures.native_ms.median)
    return {
      figures,
      ratios: { mcp_vs_native: ratioOf('mcp_ms'), e2b_vs_native: ratioOf('e2b_ms'), librechat_vs_native: ratioOf('librechat_ms') },
    }
  },
}
