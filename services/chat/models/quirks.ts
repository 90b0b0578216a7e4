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
}

export type Quirks = Required<Omit<Quirk, 'host' | 'model'>>

const TABLE: readonly Quirk[] = [
  { model: /^(?:openai\/)?(?:o\d|gpt-5)/, limitField: 'max_completion_tokens', takesTemperature: false },
  { host: /(^|\.)openai\.(com|azure\.com)$/, limitField: 'max_completion_tokens' },
  { host: /(^|\.)(anthropic\.com|amazonaws\.com)$/, wantsTools: true },
  { model: /claude/i, wantsTools: true },
]
const PLAIN: Quirks = { limitField: 'max_tokens', takesTemperature: true, wantsTools: false, refusesStreamOptions: false }

export function quirksOf(baseUrl: string, model: string): Quirks {
  const { hostname } = new URL(baseUrl)
  const rows = TABLE.filter((row) => (row.host?.test(hostname) ?? true) && (row.model?.test(model) ?? true))
  return rows.reduceRight<Quirks>((quirks, { host: _host, model: _model, ...fields }) => ({ ...quirks, ...fields }), PLAIN)
}
