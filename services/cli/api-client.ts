import { CommandError, type ApiClient } from './command.ts'
import { readServerEvents } from './server-events.ts'

export function createApiClient(url: string, apiKey: string): ApiClient {
  async function send(method: string, path: string, body: unknown): Promise<Response> {
    const headers = { authorization: `Bearer ${apiKey}`, ...(body === undefined ? {} : { 'content-type': 'application/json' }) }
    const request = { method, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) }
    const response = await fetch(`${url}${path}`, request).catch((cause: unknown) => {
      throw new CommandError(`No server answers at ${url}. Start one with \`npm start\`, or set CELLBLOCK_URL.`, { cause })
    })
    if (!response.ok) throw new CommandError(await refusalOf(response))
    return response
  }

  return {
    call: async (method, path, body) => (await (await send(method, path, body)).json()) as Readonly<Record<string, unknown>>,
    async *events(path) {
      const { body } = await send('GET', path, undefined)
      if (body !== null) yield* readServerEvents(body)
    },
  }
}

async function refusalOf(response: Response): Promise<string> {
  const text = await response.text()
  try {
    const { error } = JSON.parse(text) as { readonly error: { readonly message: string } }
    return `${error.message} (HTTP ${response.status})`
  } catch {
    return `The server answered HTTP ${response.status}, and not in the form that Cellblock answers in. Check CELLBLOCK_URL.`
  }
}
