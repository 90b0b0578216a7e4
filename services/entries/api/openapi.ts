import { OpenAPIRegistry, OpenApiGeneratorV31 } from '@asteasolutions/zod-to-openapi'
import { documentRoute } from '../../http/document-route.ts'
import { ROUTES, WIRES } from '../../wires/routes.ts'

const DESCRIPTION = `A self-hosted, multi-tenant code interpreter backend. Model-written or hand-written Python runs as notebook cells in a locked sandbox without a network; answers, outputs, files and the executed notebook come back.

The Responses, Conversations, Containers, Container files, Files, Uploads and Language models routes speak OpenAI's wire, so its SDKs are clients: set the base URL to \`/v1\` here. Every failure has the same envelope, \`{error: {message, type, code, param}, request_id}\`. Failing user code is a result, not an error.

[Chat](/) · [Guide](/docs/guide/) · [Errors](/docs/errors). Someone who is signed in to the chat page can send requests from here without a key.`

const TAGS = [
  { name: 'Responses', description: 'Chat turns: a model that may run code.' },
  { name: 'Chat completions', description: 'The same turns in the form of Chat Completions.' },
  { name: 'Conversations', description: 'Histories that responses read and add to.' },
  { name: 'Containers', description: 'Stateful notebook sessions with files.' },
  { name: 'Container files', description: 'Files in `/mnt/data` of a container.' },
  { name: 'Folders', description: 'Files and folders of a sandbox by path: list, move, remove, preview, unpack.' },
  { name: 'Files', description: 'Files outside containers, by id.' },
  { name: 'Uploads', description: 'Large files in parts.' },
  { name: 'Skills', description: 'Versioned folders of instructions and files that containers receive.' },
  { name: 'Executions', description: 'Running code without a model.' },
  { name: 'Commands', description: 'Programs that run beside the kernel.' },
  { name: 'Language models', description: 'Models that a response can name.' },
  { name: 'Links', description: 'Long-lived, revocable downloads.' },
  { name: 'Ports', description: 'Web apps in a sandbox, for browsers and programs.' },
  { name: 'Snapshots', description: 'Stored states of containers, from which others start.' },
  { name: 'Suspension', description: 'Processes of idle containers on disk, on a server with gVisor.' },
  { name: 'Network', description: 'Hosts that code in a container may reach, secrets for them, and what it requested.' },
  { name: 'Webhooks', description: 'Signed events about ended responses, executions and containers.' },
  ...WIRES.map(({ name, description }) => ({ name, description })),
  { name: 'Service', description: 'Limits and health.' },
  { name: 'Administration', description: 'Tenants, keys and usage, with a key that has the scope `admin`.' },
]

/** Made when it is first read: it would take a twentieth of a cold start. */
let made: object | null = null

/** The OpenAPI 3.1 document of all routes, with the base URL that the client used. */
export function openApiDocument(publicUrl: string): object {
  made ??= new OpenApiGeneratorV31(documentAll().definitions).generateDocument({
    openapi: '3.1.0',
    info: {
      title: 'Cellblock',
      version: '1',
      description: DESCRIPTION,
      license: { name: 'Apache-2.0', url: 'https://www.apache.org/licenses/LICENSE-2.0' },
    },
    servers: [],
    tags: TAGS,
    security: [{ apiKey: [] }],
  })
  return { ...made, servers: [{ url: publicUrl }] }
}

function documentAll(): OpenAPIRegistry {
  const registry = new OpenAPIRegistry()
  // Another product documents its own protocol.
  for (const route of ROUTES) if (route.isForeign !== true) documentRoute(registry, route)
  registry.registerComponent('securitySchemes', 'apiKey', {
    type: 'http',
    scheme: 'bearer',
    description: 'An API key, `ck_…`, as "Authorization: Bearer ck_…".',
  })
  return registry
}
