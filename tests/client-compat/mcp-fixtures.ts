import { randomBytes } from 'node:crypto'
import {
  acceptedContent,
  completable,
  createRequestStateCodec,
  inputRequired,
  ResourceTemplate,
  type CallToolResult,
  type McpServer,
  type ServerContext,
} from '@modelcontextprotocol/server'
import * as z from 'zod'
import type { McpFixtures } from '../../services/wires/mcp/create-server.ts'

/** A red pixel, and a WAV file without samples. */
const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg=='
const WAV = 'UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAA='

const said = (text: string): CallToolResult => ({ content: [{ type: 'text', text }] })
const image = { type: 'image' as const, data: PNG, mimeType: 'image/png' }
const embedded = (uri: string, mimeType: string, text: string) => ({ type: 'resource' as const, resource: { uri, mimeType, text } })
const codec = createRequestStateCodec<string>({ key: randomBytes(32) })

const nameForm = { message: 'What is your name?', requestedSchema: z.object({ name: z.string() }) }
const confirmForm = { message: 'Please confirm', requestedSchema: z.object({ ok: z.boolean() }) }
const question = {
  messages: [{ role: 'user' as const, content: { type: 'text' as const, text: 'What is the capital of France?' } }],
  maxTokens: 100,
}

/** The tools, resources and prompts that the official conformance suite calls by name. */
export const conformanceFixtures: McpFixtures = {
  options: {
    requestState: { verify: (...given) => codec.verify(...given) },
    capabilities: { tools: {}, resources: { subscribe: true }, prompts: {}, completions: {}, logging: {} },
  },
  register(server) {
    registerContent(server)
    registerInputTools(server)
    registerResources(server)
    registerPrompts(server)
  },
}

function registerContent(server: McpServer): void {
  const fixed = (name: string, result: CallToolResult): void => void server.registerTool(name, { description: name }, () => result)
  fixed('test_simple_text', said('This is a simple text response for testing.'))
  fixed('test_image_content', { content: [image] })
  fixed('test_audio_content', { content: [{ type: 'audio', data: WAV, mimeType: 'audio/wav' }] })
  fixed('test_embedded_resource', {
    content: [embedded('test://embedded-resource', 'text/plain', 'This is an embedded resource content.')],
  })
  fixed('test_multiple_content_types', {
    content: [
      { type: 'text', text: 'Multiple content types test:' },
      image,
      embedded('test://mixed-content-resource', 'application/json', '{"test":"data","value":123}'),
    ],
  })
  server.registerTool('test_error_handling', { description: 'Fails' }, () => {
    throw new Error('This tool intentionally returns an error for testing')
  })
  server.registerTool('test_tool_with_progress', { description: 'Reports progress' }, async ({ mcpReq }) => {
    const progressToken = mcpReq._meta?.progressToken ?? 0
    for (const progress of [0, 50, 100])
      await mcpReq.notify({ method: 'notifications/progress', params: { progressToken, progress, total: 100 } })
    return said(String(progressToken))
  })
  server.registerTool('test_logging_tool', { description: 'Writes log messages of the level that the client set' }, async ({ mcpReq }) => {
    await mcpReq.log('info', 'A message')
    return said('Logged.')
  })
  server.registerTool('test_tool_with_logging', { description: 'Writes log messages' }, async ({ mcpReq }) => {
    for (const data of ['Tool execution started', 'Tool processing data', 'Tool execution completed'])
      await mcpReq.notify({ method: 'notifications/message', params: { level: 'info', data } })
    return said('Logged.')
  })
}

/** Answers the first call with a question, and the call with the answers with a result. */
function ask(server: McpServer, name: string, requests: Parameters<typeof inputRequired>[0]['inputRequests'], hasState = false): void {
  server.registerTool(name, { description: name }, async (context) => {
    const { inputResponses } = context.mcpReq
    const isAnswered = Object.keys(requests ?? {}).every((key) => inputResponses?.[key] !== undefined && isValid(inputResponses, key))
    if (isAnswered) return said(`state-ok: ${JSON.stringify(inputResponses)}`)
    return inputRequired({ inputRequests: requests ?? {}, ...(hasState && { requestState: await codec.mint(name, context) }) })
  })
}

function isValid(responses: Record<string, unknown>, key: string): boolean {
  const response = responses[key] as { readonly action?: unknown; readonly content?: Readonly<Record<string, unknown>> }
  if (response.action === undefined) return true
  return key === 'user_name' ? typeof response.content?.['name'] === 'string' : response.action === 'accept'
}

function registerInputTools(server: McpServer): void {
  const prefix = 'test_input_required_result'
  const user_name = inputRequired.elicit(nameForm)
  const confirm = inputRequired.elicit(confirmForm)
  const sampling = inputRequired.createMessage(question)
  ask(server, `${prefix}_elicitation`, { user_name })
  ask(server, `${prefix}_sampling`, { capital_question: sampling })
  ask(server, `${prefix}_list_roots`, { client_roots: inputRequired.listRoots() })
  ask(server, `${prefix}_request_state`, { confirm }, true)
  ask(server, `${prefix}_tampered_state`, { confirm }, true)
  ask(server, `${prefix}_multiple_inputs`, { user_name, greeting: sampling, client_roots: inputRequired.listRoots() }, true)
  ask(server, 'test_streaming_elicitation', { user_name })
  server.registerTool('test_missing_capability', { description: 'Needs sampling' }, () =>
    inputRequired({ inputRequests: { capital_question: sampling } }),
  )
  server.registerTool(`${prefix}_capabilities`, { description: 'Asks for what the client declared' }, ({ mcpReq }) => {
    if (mcpReq.inputResponses !== undefined) return said('Answered.')
    const declared = capabilitiesOf(mcpReq)
    const requests = {
      ...('elicitation' in declared ? { user_name } : {}),
      ...('sampling' in declared ? { capital_question: sampling } : {}),
    }
    return Object.keys(requests).length === 0 ? said('Nothing to ask.') : inputRequired({ inputRequests: requests })
  })
  server.registerTool(`${prefix}_multi_round`, { description: 'Asks twice' }, async (context) => {
    const { mcpReq } = context
    const round = mcpReq.requestState<string>()
    if (round === 'two' && acceptedContent(mcpReq.inputResponses, 'step2') !== undefined) return said('Both rounds are complete.')
    const isSecond = round === 'two' || (round === 'one' && acceptedContent(mcpReq.inputResponses, 'step1') !== undefined)
    const step2 = inputRequired.elicit({
      message: 'Step 2: What is your favorite color?',
      requestedSchema: z.object({ color: z.string() }),
    })
    return isSecond
      ? inputRequired({ inputRequests: { step2 }, requestState: await codec.mint('two', context) })
      : inputRequired({ inputRequests: { step1: user_name }, requestState: await codec.mint('one', context) })
  })
}

const capabilitiesOf = ({ envelope }: ServerContext['mcpReq']): object =>
  ((envelope as Readonly<Record<string, unknown>> | undefined)?.['io.modelcontextprotocol/clientCapabilities'] as object | undefined) ?? {}

function registerResources(server: McpServer): void {
  const text = 'This is the content of the static text resource.'
  server.registerResource('static-text', 'test://static-text', { mimeType: 'text/plain' }, () => ({
    contents: [{ uri: 'test://static-text', mimeType: 'text/plain', text }],
  }))
  server.registerResource('watched-resource', 'test://watched-resource', { mimeType: 'text/plain' }, () => ({
    contents: [{ uri: 'test://watched-resource', mimeType: 'text/plain', text: 'Watched.' }],
  }))
  server.registerResource('static-binary', 'test://static-binary', { mimeType: 'image/png' }, () => ({
    contents: [{ uri: 'test://static-binary', mimeType: 'image/png', blob: PNG }],
  }))
  server.server.setRequestHandler('resources/subscribe', () => ({}))
  server.server.setRequestHandler('resources/unsubscribe', () => ({}))
  const template = new ResourceTemplate('test://template/{id}/data', { list: undefined })
  server.registerResource('template', template, { mimeType: 'application/json' }, (uri, { id }) => ({
    contents: [
      { uri: uri.href, mimeType: 'application/json', text: JSON.stringify({ id, templateTest: true, data: `Data for ID: ${String(id)}` }) },
    ],
  }))
}

function registerPrompts(server: McpServer): void {
  const user = (content: { type: 'text'; text: string } | typeof image | ReturnType<typeof embedded>) => ({
    role: 'user' as const,
    content,
  })
  server.registerPrompt('test_simple_prompt', { description: 'Simple' }, () => ({
    messages: [user({ type: 'text', text: 'This is a simple prompt for testing.' })],
  }))
  const words = (): string[] => ['paris', 'park', 'party']
  const argsSchema = z.object({ arg1: completable(z.string(), words), arg2: z.string() })
  server.registerPrompt('test_prompt_with_arguments', { description: 'With arguments', argsSchema }, ({ arg1, arg2 }) => ({
    messages: [user({ type: 'text', text: `Prompt with arguments: arg1='${arg1}', arg2='${arg2}'` })],
  }))
  const resourceSchema = z.object({ resourceUri: z.string() })
  server.registerPrompt('test_prompt_with_embedded_resource', { description: 'With a resource', argsSchema: resourceSchema }, (args) => ({
    messages: [
      user(embedded(args.resourceUri, 'text/plain', 'Embedded resource content for testing.')),
      user({ type: 'text', text: 'Process it.' }),
    ],
  }))
  server.registerPrompt('test_prompt_with_image', { description: 'With an image' }, () => ({
    messages: [user(image), user({ type: 'text', text: 'Analyze it.' })],
  }))
  server.registerPrompt('test_input_required_result_prompt', { description: 'Asks for context' }, ({ mcpReq }) => {
    const content = acceptedContent<{ context?: unknown }>(mcpReq.inputResponses, 'user_context')
    if (content !== undefined) return { messages: [user({ type: 'text', text: `Context: ${JSON.stringify(content)}` })] }
    const form = { message: 'What context should the prompt use?', requestedSchema: z.object({ context: z.string() }) }
    return inputRequired({ inputRequests: { user_context: inputRequired.elicit(form) } })
  })
}
