import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { PRINT, type Bench } from '../bench.ts'
import { timed } from '../sides/time.ts'
import { round, summarize } from '../statistics.ts'

const WARM_UP = 10

/** `print(1)` in the same live container through each wire, compared with the native wire. */
export const wires: Bench = {
  name: 'wires',
  title: 'print(1) through the other wires, beside the native wire',
  async run({ isQuick, server, liveContainer }) {
    const client = new Client({ name: 'bench', version: '1' })
    await client.connect(
      new StreamableHTTPClientTransport(new URL(`${server.url}/mcp`), { authProvider: { token: async () => server.apiKey } }),
    )
    const viaMcp = async (): Promise<void> => {
      const answer = await client.callTool({ name: 'execute_code', arguments: { code: PRINT, container_id: liveContainer } })
      if (answer.isError === true) throw new Error(`The MCP tool failed: ${JSON.stringify(answer.content)}`)
    }
    const native: number[] = []
    const mcp: number[] = []
    const runs = isQuick ? 100 : 500
    try {
      for (let run = -WARM_UP; run < runs; run++) {
        const nativeMs = await timed(() => server.api.run(liveContainer, PRINT))
        const mcpMs = await timed(viaMcp)
        if (run < 0) continue
        native.push(nativeMs)
        mcp.push(mcpMs)
      }
    } finally {
      await client.close()
    }
    const figures = { native_ms: summarize('ms', native), mcp_ms: summarize('ms', mcp) }
    return { figures, ratios: { mcp_vs_native: round(figures.mcp_ms.median / figures.native_ms.median) } }
  },
}
