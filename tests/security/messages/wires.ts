import { randomUUID } from 'node:crypto'
import type { LocalServerProcess } from '../../support/local-server.ts'

/** How one wire reported an execution. `problem` says why the end is not typed; null if it is. */
export interface Ending {
  readonly problem: string | null
  /** The text of the answer, for what it must contain. */
  readonly text: string
}

export interface Wire {
  readonly name: string
  /** Runs code and reads the result back in every form that the wire has. */
  run(server: LocalServerProcess, code: string): Promise<Ending>
}

const ENDED = new Set(['succeeded', 'failed', 'timed_out', 'cancelled'])
const OUTPUT_TYPES = new Set(['stream', 'display_data', 'execute_result', 'error', 'update_display_data', 'clear_output', 'omitted'])

interface Reply {
  readonly status: number
  readonly text: string
}

const MAX_ATTEMPTS = 5
const RETRIED = /"(sandbox_unavailable|too_many_results)"/

/** Calls again while every sandbox is in use or earlier answers fill the memory, as the answer says. */
async function request(
  server: LocalServerProcess,
  method: string,
  path: string,
  body?: unknown,
  more: Readonly<Record<string, string>> = {},
): Promise<Reply> {
  const once = () => requestOnce(server, { method, path, body, more })
  let reply = await once()
  for (let attempt = 1; attempt < MAX_ATTEMPTS && RETRIED.test(reply.text); attempt++) reply = await once()
  return reply
}

interface Sent {
  readonly method: string
  readonly path: string
  readonly body: unknown
  readonly more: Readonly<Record<string, string>>
}

async function requestOnce(server: LocalServerProcess, { method, path, body, more }: Sent): Promise<Reply> {
  const answer = await fetch(server.url + path, {
    method,
    headers: {
      ...more,
      authorization: `Bearer ${server.apiKey}`,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  return { status: answer.status, text: await answer.text() }
}

const failed = (what: string, { status, text }: Reply): string | null =>
  status >= 200 && status < 300 ? null : `${what} answered ${status}: ${text.slice(0, 300)}`

/** The data of a stream of server-sent events. */
const eventsOf = (text: string): readonly Record<string, unknown>[] =>
  text
    .split('\n')
    .filter((line) => line.startsWith('data: {'))
    .map((line) => JSON.parse(line.slice('data: '.length)) as Record<string, unknown>)

const native: Wire = {
  name: 'native',
  async run(server, code) {
    const container = await server.native.createContainer('messages')
    const made = await request(server, 'POST', `/v1/containers/${container}/executions?wait=60`, { code })
    const early = failed('POST executions', made)
    if (early !== null) return { problem: early, text: made.text }
    const { id } = JSON.parse(made.text) as { readonly id: string }
    const [execution, events, notebook] = await Promise.all([
      request(server, 'GET', `/v1/executions/${id}?wait=60`),
      request(server, 'GET', `/v1/executions/${id}/events`),
      request(server, 'GET', `/v1/containers/${container}/notebook.ipynb`),
    ])
    await request(server, 'DELETE', `/v1/containers/${container}`)
    const problem =
      failed('GET execution', execution) ??
      failed('GET events', events) ??
      failed('GET notebook', notebook) ??
      untypedExecution(JSON.parse(execution.text) as Record<string, unknown>) ??
      (eventsOf(events.text).length === 0 ? 'no events' : null)
    return { problem, text: execution.text }
  },
}

function untypedExecution({ status, outputs }: Record<string, unknown>): string | null {
  if (!ENDED.has(String(status))) return `status ${String(status)}`
  const types = ((outputs ?? []) as readonly { readonly output_type?: string }[]).map(({ output_type: type }) => String(type))
  const unknown = types.find((type) => !OUTPUT_TYPES.has(type))
  return unknown === undefined ? null : `output of type ${unknown}`
}

/** The model `demo` runs the code that it is given. */
const turn = (code: string, stream: boolean) => ({
  model: 'demo',
  stream,
  input: `\`\`\`python\n${code}\n\`\`\``,
  tools: [{ type: 'code_interpreter', container: { type: 'auto' } }],
  include: ['code_interpreter_call.outputs'],
})
const RESPONSE_ENDED = new Set(['completed', 'failed', 'incomplete', 'cancelled'])

const openai: Wire = {
  name: 'openai',
  async run(server, code) {
    const made = await request(server, 'POST', '/v1/responses', turn(code, false))
    const early = failed('POST responses', made)
    if (early !== null) return { problem: early, text: made.text }
    const { id, status } = JSON.parse(made.text) as { readonly id: string; readonly status: string }
    const read = await request(server, 'GET', `/v1/responses/${id}?include=code_interpreter_call.outputs`)
    return { problem: failed('GET response', read) ?? (RESPONSE_ENDED.has(status) ? null : `status ${status}`), text: read.text }
  },
}

const openaiStream: Wire = {
  name: 'openai stream',
  async run(server, code) {
    const answer = await request(server, 'POST', '/v1/responses', turn(code, true))
    const problem = failed('POST responses', answer)
    if (problem !== null) return { problem, text: answer.text }
    const last = String(eventsOf(answer.text).at(-1)?.['type'])
    return { problem: /^response\.(completed|failed|incomplete)$/.test(last) ? null : `the stream ends with ${last}`, text: answer.text }
  },
}

const plugin: Wire = {
  name: 'plugin',
  async run(server, code) {
    const answer = await request(server, 'POST', '/execute', { code })
    const problem = failed('POST execute', answer)
    if (problem === null) JSON.parse(answer.text)
    return { problem, text: answer.text }
  },
}

const mcp: Wire = {
  name: 'mcp',
  async run(server, code) {
    const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'execute_code', arguments: { code } } }
    const answer = await request(server, 'POST', '/mcp', call)
    const problem = failed('POST mcp', answer)
    if (problem !== null) return { problem, text: answer.text }
    const message = answer.text.startsWith('{') ? (JSON.parse(answer.text) as Record<string, unknown>) : eventsOf(answer.text).at(-1)
    const content = (message?.['result'] as { readonly content?: unknown } | undefined)?.content
    return { problem: Array.isArray(content) ? null : `no content: ${answer.text.slice(0, 300)}`, text: answer.text }
  },
}

const e2b: Wire = {
  name: 'e2b',
  async run(server, code) {
    const post = async (path: string, headers: Readonly<Record<string, string>>, body: unknown): Promise<Reply> => {
      const answer = await fetch(`${server.url}/e2b${path}`, {
        method: 'POST',
        headers: { ...headers, 'content-type': 'application/json' },
        body: JSON.stringify(body),
      })
      return { status: answer.status, text: await answer.text() }
    }
    const created = await post('/v2/sandboxes', { 'x-api-key': server.apiKey }, {})
    const early = failed('POST sandboxes', created)
    if (early !== null) return { problem: early, text: created.text }
    const { sandboxID, envdAccessToken } = JSON.parse(created.text) as Record<string, string>
    const token = { 'e2b-sandbox-id': sandboxID ?? '', 'x-access-token': envdAccessToken ?? '' }
    const executed = await post('/execute', token, { code })
    await fetch(`${server.url}/e2b/sandboxes/${sandboxID}`, { method: 'DELETE', headers: { 'x-api-key': server.apiKey } })
    const problem = failed('POST execute', executed)
    if (problem !== null) return { problem, text: executed.text }
    const lines = executed.text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>)
    const last = String(lines.at(-1)?.['type'])
    return { problem: last === 'end_of_execution' ? null : `the stream ends with ${last}`, text: executed.text }
  },
}

const openWebUi: Wire = {
  name: 'open-webui',
  async run(server, code) {
    const user = { 'x-user-id': `user-${randomUUID()}` }
    const cell = { cell_type: 'code', metadata: {}, source: code, outputs: [], execution_count: null }
    const notebook = { nbformat: 4, nbformat_minor: 5, metadata: {}, cells: [cell] }
    const write = { path: 'a.ipynb', content: JSON.stringify(notebook) }
    const written = await request(server, 'POST', '/open-webui/files/write', write, user)
    const early = failed('POST write', written)
    if (early !== null) return { problem: early, text: written.text }
    const opened = await request(server, 'POST', '/open-webui/notebooks', { path: 'a.ipynb' }, user)
    const { id } = JSON.parse(opened.text) as { readonly id?: string }
    const executed = await request(server, 'POST', `/open-webui/notebooks/${id}/execute`, { cell_index: 0 }, user)
    const problem = failed('POST execute', executed)
    const { data } = await server.openai.containers.list({ limit: 100 })
    const container = data.find(({ name }) => name === `open-webui:${user['x-user-id']}:default`)
    if (container !== undefined) await request(server, 'DELETE', `/v1/containers/${container.id}`)
    if (problem !== null) return { problem, text: executed.text }
    const { status, outputs } = JSON.parse(executed.text) as { readonly status?: string; readonly outputs?: unknown }
    const isTyped = (status === 'ok' || status === 'error') && Array.isArray(outputs)
    return { problem: isTyped ? null : `no outputs: ${executed.text.slice(0, 300)}`, text: executed.text }
  },
}

/** Every wire that runs code. A further wire is one more entry. */
export const WIRES: readonly Wire[] = [native, openai, openaiStream, plugin, mcp, e2b, openWebUi]
