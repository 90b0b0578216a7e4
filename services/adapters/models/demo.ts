import type { ChatModel, ModelDelta, ModelMessage, ModelRequest } from '../../ports/chat-model.ts'
import { fencedPython } from '../../model/responses/fenced-code.ts'
import { PYTHON } from '../../model/responses/items/code-interpreter-call.ts'

const WHAT_IT_IS = 'This is the built-in demo, not a language model.'
const HOW_TO_CONFIGURE =
  'To connect a language model, start the server with OPENAI_API_KEY (and OPENAI_BASE_URL for another endpoint), or list models in CELLBLOCK_MODELS: docs/guides/own-model.md says how.'

/** Runs the fenced Python blocks of the user's last message, one call each, and reports their output, so that the whole path works offline. */
export const demoModel: ChatModel = {
  async *stream(request, signal) {
    signal.throwIfAborted()
    const { text, results } = latestTurn(request.messages)
    const blocks = fencedPython(text)
    const next = blocks[results.length]
    const canRun = request.toolChoice !== 'none' && request.tools.some((tool) => tool.name === PYTHON)
    if (next !== undefined && canRun) {
      yield* call(results.length, next)
      return
    }
    yield* say(answer(blocks, results, canRun), request)
  },
}

function latestTurn(messages: readonly ModelMessage[]): { readonly text: string; readonly results: readonly string[] } {
  const at = messages.findLastIndex((message) => message.role === 'user')
  const user = messages[at]
  const content = user?.role === 'user' ? user.content : ''
  const text = typeof content === 'string' ? content : content.map((part) => (part.type === 'text' ? part.text : '')).join('\n')
  return { text, results: messages.slice(at + 1).flatMap((message) => (message.role === 'tool' ? [message.content] : [])) }
}

function answer(blocks: readonly string[], results: readonly string[], canRun: boolean): string {
  if (blocks.length === 0)
    return `${WHAT_IT_IS} It runs the Python code of your message that stands between lines with \`\`\`python and \`\`\`, and there was none. On the web page, "Run code" runs code without a model.\n\n${HOW_TO_CONFIGURE}`
  if (results.length === 0 && !canRun) {
    return `${WHAT_IT_IS} It could run the code of your message if the request offered the tool: add {"type": "code_interpreter", "container": {"type": "auto"}} to tools.\n\n${HOW_TO_CONFIGURE}`
  }
  const parts = results.map((result, i) => `Block ${i + 1}:\n\n${fence(withoutFiles(result))}`)
  if (results.length < blocks.length) parts.push(`The other ${blocks.length - results.length} of ${blocks.length} blocks were not run.`)
  const files = [...new Set(results.flatMap(filesIn))]
  if (files.length > 0) parts.push(`Files:\n\n${files.map((path) => `- [${path}](sandbox:/mnt/data/${path})`).join('\n')}`)
  return [
    `${WHAT_IT_IS} It ran ${results.length === 1 ? 'the Python block' : `${results.length} Python blocks`} of your message.`,
    ...parts,
  ].join('\n\n')
}

const FILE_LINE = /^- \/mnt\/data\/(.+) \(\d+ bytes, (?:new|changed)\)$/gm
const filesIn = (result: string): string[] => [...result.matchAll(FILE_LINE)].map((match) => match[1] ?? '')
const withoutFiles = (result: string): string =>
  result
    .replace(FILE_LINE, '')
    .replace(/\nfiles:\n*$/m, '\n')
    .trim()
const fence = (text: string): string => {
  const ticks = '`'.repeat(Math.max(3, ...[...text.matchAll(/`+/g)].map((match) => match[0].length + 1)))
  return `${ticks}text\n${text}\n${ticks}`
}

function* call(index: number, code: string): Generator<ModelDelta> {
  const json = JSON.stringify({ code })
  yield { type: 'tool_call', index: 0, id: `call_demo_${index}`, name: PYTHON, arguments: '' }
  for (const piece of pieces(json)) yield { type: 'tool_call', index: 0, id: null, name: null, arguments: piece }
  yield { type: 'finish', reason: 'tool_calls' }
}

function* say(text: string, request: ModelRequest): Generator<ModelDelta> {
  for (const piece of pieces(text)) yield { type: 'text', text: piece }
  yield {
    type: 'usage',
    inputTokens: words(JSON.stringify(request.messages)),
    cachedTokens: 0,
    outputTokens: words(text),
    reasoningTokens: 0,
  }
  yield { type: 'finish', reason: 'stop' }
}

const pieces = (text: string): readonly string[] => text.match(/[\s\S]{1,48}/gu) ?? []
const words = (text: string): number => text.split(/\s+/).length
