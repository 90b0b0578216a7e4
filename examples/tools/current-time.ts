// A tool in one file. Start the server with CELLBLOCK_TOOLS=examples/tools, and name the tool in a request: "tools": [{"type": "current_time"}].
import type { ServerTool } from '../../services/ports/tool.ts'

export const tool: ServerTool = {
  answeredBy: 'server',
  type: 'current_time',
  name: 'current_time',
  description: 'Tells the present date and time in a time zone. Use it whenever an answer depends on what day or hour it is.',
  parameters: {
    type: 'object',
    properties: { time_zone: { type: 'string', description: 'An IANA name such as Europe/Berlin; UTC when left out.' } },
    additionalProperties: false,
  },
  limits: { timeoutMs: 1_000, maxResultChars: 200 },
  async execute(args) {
    const timeZone = typeof args['time_zone'] === 'string' ? args['time_zone'] : 'UTC'
    try {
      const text = new Intl.DateTimeFormat('en-GB', { timeZone, dateStyle: 'full', timeStyle: 'long' }).format(new Date())
      return { kind: 'text', text, isError: false }
    } catch {
      return { kind: 'text', text: `error: there is no time zone ${JSON.stringify(timeZone)}`, isError: true }
    }
  },
}
