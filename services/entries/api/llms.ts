import type { Hono } from 'hono'
import type { ApiConfig } from '../../http/config.ts'
import { publicUrlOf } from '../../http/public-url.ts'
import { WIRES } from '../../wires/routes.ts'
import type { ApiHono } from '../../http/middleware/wide-event.ts'

/** What a language model needs to use this server, in the form of https://llmstxt.org. */
const textOf = (url: string): string => `# Cellblock

> Runs code in isolated sandboxes without a network, for chat turns and for programs. It speaks OpenAI's wire and a native wire, and others for existing clients.

- Base URL for OpenAI SDKs: ${url}/v1, with \`Authorization: Bearer ck_…\`
- A chat turn with code: POST ${url}/v1/responses with \`"tools": [{"type": "code_interpreter", "container": {"type": "auto"}}]\`
- Code without a model: POST ${url}/v1/containers, then POST ${url}/v1/containers/{id}/executions with \`{"code": "print(1)"}\`
- A command: POST ${url}/v1/containers/{id}/commands with \`{"command": "ls -l"}\`
${WIRES.flatMap(({ name, hint }) => (hint === undefined ? [] : `- ${name}: ${hint(url)}\n`)).join('')}- Files are in \`/mnt/data\`. Variables and files stay in the container. Code that fails is a result, not an error.

## Documentation

- [OpenAPI](${url}/openapi.json): every route with its fields
- [Errors](${url}/docs/errors): what each code means and what to do
- [API reference](${url}/docs): for people
`

export function mountLlms(app: Hono<ApiHono>, config: ApiConfig): void {
  app.get(
    '/llms.txt',
    (context) =>
      new Response(textOf(publicUrlOf(context.req.raw, config)), {
        headers: { 'content-type': 'text/plain; charset=utf-8', 'cache-control': 'no-cache' },
      }),
  )
}
