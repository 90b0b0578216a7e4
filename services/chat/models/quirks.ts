/** In what endpoints and models differ from plain Chat Completions. For each field the first row that matches and has the field counts. */
interface Quirk {
  readonly host?: RegExp
  readonly model?: RegExp
  /** The field for the limit of output tokens. */
  readonly limitField?: LimitField
  readonly rejectsSampling?: boolean
  /** Rejects a conversation with tool calls in it when the request offers no tools. */
  readonly requiresTools?: boolean
  readonly rejectsParallelToolCalls?: boolean
  /** Cannot call tools: its Python comes in fenced blocks of the answer, and results go back as user messages. */
  readonly fencesCode?: boolean
}

export type LimitField = 'max_tokens' | 'max_completion_tokens'
export type Quirks = Required<Omit<Quirk, 'host' | 'model'>>

const TABLE: readonly Quirk[] = [
  { model: /^(?:openai\/)?(?:o\d|gpt-5)/, limitField: 'max_completion_tokens', rejectsSampling: true },
  { model: /^(?:openai\/)?o\d/, rejectsParallelToolCalls: true },
  { host: /(^|\.)openai\.(com|azure\.com)$/, limitField: 'max_completion_tokens' },
  { host: /(^|\.)(anthropic\.com|amazonaws\.com)$/, requiresTools: true },
  { model: /claude/i, requiresTools: true },
  { model: /^(?:.*\/)?(?:gemma-?[123]?(?!\d)|phi-?[123]|codellama|starcoder|tinyllama|llama-?2)/i, fencesCode: true },
]
const PLAIN: Quirks = {
  limitField: 'max_tokens',
  rejectsSampling: false,
  requiresTools: false,
  rejectsParallelToolCalls: false,
  fencesCode: false,
}

export function quirksOf(baseUrl: string, model: string): Quirks {
  const { hostname } = new URL(baseUrl)
  const rows = TABLE.filter((row) => (row.host?.test(hostname) ?? true) && (row.model?.test(model) ?? true))
  return rows.reduceRight<Quirks>((quirks, { host: _host, model: _model, ...fields }) => ({ ...quirks, ...fields }), PLAIN)
}

/** How endpoints report that a conversation is longer than their model's window. */
const TOO_LONG: readonly RegExp[] = [
  /context[_ ]length[_ ]exceeded/i,
  /maximum context length/i,
  /context (?:window|length|size)/i,
  /prompt is too long/i,
  /input is too long/i,
  /too many (?:input )?tokens/i,
  /exceeds? .{0,40}(?:token|context)/i,
]
const WINDOW_SIZE: readonly RegExp[] = [
  /maximum context length (?:is|of) (\d{3,8})/i,
  /context (?:window|length|size)[^\d]{0,40}(\d{3,8})/i,
  /> (\d{3,8}) maximum/i,
]

/** Whether an error means that the conversation is too long, with the window in tokens where the endpoint names it. Null: it means something else. */
export function readTooLong(status: number | null, code: string | null, message: string): { readonly window: number | null } | null {
  if (code !== 'context_length_exceeded') {
    if (status !== null && status !== 400 && status !== 413 && status !== 422) return null
    if (!TOO_LONG.some((sign) => sign.test(message))) return null
  }
  const size = WINDOW_SIZE.map((pattern) => pattern.exec(message)?.[1]).find((match) => match !== undefined)
  return { window: size === undefined ? null : Number(size) }
}
