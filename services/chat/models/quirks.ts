/** In what endpoints and models differ from plain Chat Completions. The first row that matches says each field. */
interface Quirk {
  readonly host?: RegExp
  readonly model?: RegExp
  /** The field for the limit of output tokens. */
  readonly limitField?: 'max_tokens' | 'max_completion_tokens'
  readonly takesTemperature?: boolean
  /** Refuses a conversation with tool calls in it when the request offers no tools. */
  readonly wantsTools?: boolean
  /** Refuses `stream_options`. */
  readonly refusesStreamOptions?: boolean
  /** Refuses `parallel_tool_calls`. */
  readonly refusesParallel?: boolean
  /** Cannot call tools: its Python comes in fenced blocks of the answer, and results go back as what the user says. */
  readonly fencesCode?: boolean
}

export type Quirks = Required<Omit<Quirk, 'host' | 'model'>>

const TABLE: readonly Quirk[] = [
  { model: /^(?:openai\/)?(?:o\d|gpt-5)/, limitField: 'max_completion_tokens', takesTemperature: false },
  { model: /^(?:openai\/)?o\d/, refusesParallel: true },
  { host: /(^|\.)openai\.(com|azure\.com)$/, limitField: 'max_completion_tokens' },
  { host: /(^|\.)(anthropic\.com|amazonaws\.com)$/, wantsTools: true },
  { model: /claude/i, wantsTools: true },
  { model: /^(?:.*\/)?(?:gemma-?[123]?(?!\d)|phi-?[123]|codellama|starcoder|tinyllama|llama-?2)/i, fencesCode: true },
]
const PLAIN: Quirks = {
  limitField: 'max_tokens',
  takesTemperature: true,
  wantsTools: false,
  refusesStreamOptions: false,
  refusesParallel: false,
  fencesCode: false,
}

export function quirksOf(baseUrl: string, model: string): Quirks {
  const { hostname } = new URL(baseUrl)
  const rows = TABLE.filter((row) => (row.host?.test(hostname) ?? true) && (row.model?.test(model) ?? true))
  return rows.reduceRight<Quirks>((quirks, { host: _host, model: _model, ...fields }) => ({ ...quirks, ...fields }), PLAIN)
}

/** How endpoints say that a conversation is longer than their model's window. */
const TOO_LONG: readonly RegExp[] = [
  /context[_ ]length[_ ]exceeded/i,
  /maximum context length/i,
  /context (?:window|length|size)/i,
  /prompt is too long/i,
  /input is too long/i,
  /too many (?:input )?tokens/i,
  /exceeds? .{0,40}(?:token|context)/i,
]
const LIMIT_TOLD: readonly RegExp[] = [
  /maximum context length (?:is|of) (\d{3,8})/i,
  /context (?:window|length|size)[^\d]{0,40}(\d{3,8})/i,
  /> (\d{3,8}) maximum/i,
]

/** Whether a refusal means that the conversation is too long, and the window where it tells it, tokens. Null: it means something else. */
export function readTooLong(status: number | null, code: string | null, message: string): { readonly window: number | null } | null {
  if (code !== 'context_length_exceeded') {
    if (status !== null && status !== 400 && status !== 413 && status !== 422) return null
    if (!TOO_LONG.some((sign) => sign.test(message))) return null
  }
  const told = LIMIT_TOLD.map((sign) => sign.exec(message)?.[1]).find((match) => match !== undefined)
  return { window: told === undefined ? null : Number(told) }
}
