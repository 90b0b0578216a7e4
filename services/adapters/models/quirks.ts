/** Differences of endpoints and models from plain Chat Completions. For each field the first matching row with that field counts. */
interface Quirk {
  readonly host?: RegExp
  readonly model?: RegExp
  /** The field for the limit of output tokens. */
  readonly limitField?: LimitField
  readonly rejectsSampling?: boolean
  /** Rejects a conversation with tool calls in it when the request offers no tools. */
  readonly requiresTools?: boolean
  readonly rejectsParallelToolCalls?: boolean
  /** The model cannot call tools: its Python is in fenced blocks of the answer, and results are sent as user messages. */
  readonly fencesCode?: boolean
  /** The model reads images. */
  readonly readsImages?: boolean
  /** Every answer satisfies the JSON schema of a strict format. */
  readonly enforcesSchema?: boolean
}

export type LimitField = 'max_tokens' | 'max_completion_tokens'
export type Quirks = Required<Omit<Quirk, 'host' | 'model'>>

const TABLE: readonly Quirk[] = [
  { model: /^(?:openai\/)?(?:o\d|gpt-5)/, limitField: 'max_completion_tokens', rejectsSampling: true },
  { model: /^(?:openai\/)?o\d/, rejectsParallelToolCalls: true },
  { host: /(^|\.)openai\.(com|azure\.com)$/, limitField: 'max_completion_tokens' },
  {
    host: /(^|\.)openai\.com$/,
    model: /^(?:gpt-4o(?!-2024-05-13)|gpt-4\.1|gpt-[5-9]|o[134](?!-mini-2024|-preview))/,
    enforcesSchema: true,
  },
  { model: /(?:^|\/)o(?:1-mini|1-preview|3-mini)/, readsImages: false },
  { model: /gpt-4o|gpt-4\.1|gpt-4-turbo|gpt-[5-9]|(?:^|\/)o[134](?:-|$)/, readsImages: true },
  { model: /claude-(?:3|opus|sonnet|haiku|[4-9])|gemini|llama-?4|pixtral|llava|qwen[\d.]*-?vl|-vision/i, readsImages: true },
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
  readsImages: false,
  enforcesSchema: false,
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

/** Whether an error means that the conversation is too long, with the window in tokens if the endpoint names it. Null for another error. */
export function readTooLong(status: number | null, code: string | null, message: string): { readonly window: number | null } | null {
  if (code !== 'context_length_exceeded') {
    if (status !== null && status !== 400 && status !== 413 && status !== 422) return null
    if (!TOO_LONG.some((sign) => sign.test(message))) return null
  }
  const size = WINDOW_SIZE.map((pattern) => pattern.exec(message)?.[1]).find((match) => match !== undefined)
  return { window: size === undefined ? null : Number(size) }
}
