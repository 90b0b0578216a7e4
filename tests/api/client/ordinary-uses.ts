// Ordinary uses of the client. They are compiled only, here and against the packed client.
import {
  Cellblock,
  CellblockError,
  type ApiKey,
  type Container,
  type Execution,
  type OperationName,
} from '../../../packages/client/src/index.ts'

const client = new Cellblock({ baseUrl: 'http://127.0.0.1:8787/', apiKey: 'ck_…' })
const container_id = 'cntr_…'
const strings: string[] = []

export async function listsContainersWithoutAQuery(): Promise<string[]> {
  const { data } = await client.call('GET /v1/containers')
  return data.map((container: Container) => container.name)
}

export async function listsWithAQuery(): Promise<boolean> {
  return (await client.call('GET /v1/containers', { query: { limit: 5, order: 'asc' } })).has_more
}

export async function createsAContainer(): Promise<string> {
  const container = await client.call('POST /v1/containers', {
    body: { name: 'example', memory_limit: '4g', expires_after: { anchor: 'last_active_at', minutes: 20 } },
    idempotencyKey: 'once',
  })
  return container.network_policy.type
}

export async function runsCode(): Promise<number> {
  const execution = await client.run(container_id, { code: 'print(6 * 7)', language: 'python', env: { A: '1' } })
  for (const output of execution.outputs ?? []) {
    if (output.output_type === 'stream') strings.push(output.text)
    if (output.output_type === 'error') strings.push(output.ename, ...output.traceback)
    if (output.output_type === 'execute_result') strings.push(String(output.data['text/plain']))
  }
  return execution.usage?.run_ms ?? 0
}

export async function startsCodeWithoutWaiting(): Promise<Execution['status']> {
  const started = await client.call('POST /v1/containers/{container_id}/executions', {
    params: { container_id },
    query: { wait: 0 },
    body: { code: 'pass' },
  })
  return started.status
}

export async function asksAModelThatRunsCode(): Promise<void> {
  const response = await client.call('POST /v1/responses', {
    body: {
      model: 'demo',
      tools: [{ type: 'code_interpreter', container: { type: 'auto', file_ids: ['file-1'], memory_limit: '4g' } }],
      include: ['code_interpreter_call.outputs'],
      input: [{ role: 'user', content: [{ type: 'input_text', text: 'Plot it.' }] }],
    },
  })
  for (const item of response.output) {
    if (item.type === 'message')
      for (const part of item.content) {
        if (part.type === 'refusal') strings.push(part.refusal)
        else for (const note of part.annotations) if (note.type === 'container_file_citation') strings.push(part.text, note.filename)
      }
    if (item.type === 'code_interpreter_call')
      for (const output of item.outputs ?? []) strings.push(output.type === 'logs' ? output.logs : output.url)
    if (item.type === 'shell_call') strings.push(...item.action.commands)
  }
}

export async function answersAFunctionCall(): Promise<string | undefined> {
  const response = await client.call('POST /v1/responses', {
    body: {
      model: 'demo',
      tools: [
        { type: 'function', name: 'weather', parameters: { type: 'object', properties: { city: { type: 'string' } } }, strict: true },
      ],
      tool_choice: { type: 'function', name: 'weather' },
      input: [{ type: 'function_call_output', call_id: 'call_1', output: 'sunny' }],
      previous_response_id: 'resp_1',
    },
  })
  return response.output.find((item) => item.type === 'function_call')?.arguments
}

export async function asksForJson(): Promise<string> {
  const { status } = await client.call('POST /v1/responses', {
    body: {
      model: 'demo',
      input: 'A point.',
      text: { format: { type: 'json_schema', name: 'point', schema: { type: 'object' }, strict: true } },
      reasoning: { effort: 'low' },
    },
  })
  return status
}

export async function streamsAnAnswer(): Promise<void> {
  const events = await client.call('POST /v1/responses', { body: { model: 'demo', input: 'Hello', stream: true } })
  for await (const { event, data } of events) if (event === 'response.output_text.delta') strings.push(String(data['delta']))
}

export async function readsAConversation(): Promise<void> {
  const conversation = await client.call('POST /v1/conversations', {
    body: { items: [{ type: 'message', role: 'user', content: 'Hello' }], metadata: { topic: 'demo' } },
  })
  const { data } = await client.call('GET /v1/conversations/{conversation_id}/items', { params: { conversation_id: conversation.id } })
  for (const item of data) if (item.type === 'message') strings.push(item.role, ...item.content.map((part) => part.text ?? ''))
}

export async function createsAWebhookEndpoint(): Promise<boolean> {
  const endpoint = await client.call('POST /v1/webhook_endpoints', {
    body: { name: 'ci', url: 'https://example.com/hook', event_types: ['execution.failed', 'response.completed'] },
  })
  strings.push(endpoint.signing_secret)
  return endpoint.event_types.includes('execution.failed')
}

export async function createsAKey(): Promise<boolean> {
  const key: ApiKey = await client.call('POST /v1/admin/tenants/{tenant_id}/keys', {
    params: { tenant_id: 'tnt_…' },
    body: { name: 'ci', scopes: ['run', 'read'], expires_at: null },
  })
  return key.scopes.includes('run')
}

export async function changesLimits(): Promise<void> {
  const params = { tenant_id: 'tnt_…' }
  await client.call('POST /v1/admin/tenants/{tenant_id}', { params, body: { limits: { dollars_per_day: 5, memory_limit: null } } })
  const { limits } = await client.call('GET /v1/admin/tenants/{tenant_id}/limits', { params })
  for (const [name, { value, set_by }] of Object.entries(limits)) strings.push(name, String(value), set_by)
}

export async function movesFiles(file: Blob): Promise<string> {
  const uploaded = await client.upload(file, { filename: 'a.csv', onProgress: (sent, total) => void strings.push(`${sent / total}`) })
  const copy = await client.call('POST /v1/containers/{container_id}/files', { params: { container_id }, body: { file_id: uploaded.id } })
  const form = new FormData()
  form.set('file', file, 'b.csv')
  await client.call('POST /v1/containers/{container_id}/files', { params: { container_id }, body: form })
  const bytes: Blob = await client.download(container_id, copy.id)
  return bytes.text()
}

export async function followsEvents(signal: AbortSignal): Promise<void> {
  for await (const { id, event } of client.events('exec_…', { after: 3, signal })) strings.push(`${String(id)} ${event}`)
}

export async function readsEveryKindOfAnswer(): Promise<void> {
  const skill: Blob = await client.call('GET /v1/skills/{skill_id}/content', { params: { skill_id: 'skill_…' } })
  strings.push(skill.type)
  const { url } = await client.call('POST /v1/admin/tenants/{tenant_id}/export', { params: { tenant_id: 'tnt_…' } })
  strings.push(url)
  const notebook = await client.call('GET /v1/containers/{container_id}/notebook.ipynb', { params: { container_id } })
  strings.push(String(notebook['nbformat']))
}

export async function explainsARefusal(name: OperationName): Promise<string | null> {
  try {
    await client.call('GET /v1/models/{model}', { params: { model: name } })
    return null
  } catch (error) {
    return error instanceof CellblockError ? (error.param ?? error.code) : null
  }
}

/** What must not compile. */
export async function refusesMistakes(): Promise<void> {
  // @ts-expect-error: the body is missing
  await client.call('POST /v1/containers')
  // @ts-expect-error: the parameter has another name
  await client.call('GET /v1/models/{model}', { params: { name: 'demo' } })
  // @ts-expect-error: no such event type
  await client.call('POST /v1/webhook_endpoints', { body: { name: 'a', url: 'https://example.com', event_types: ['lunch'] } })
  // @ts-expect-error: the address of a WebSocket is no operation of a client of HTTP
  await client.call('GET /v1/responses')
  // @ts-expect-error: the operation has no body
  await client.call('GET /v1/models', { body: {} })
}
