import { formatInstruction } from '../../model/responses/format-instruction.ts'
import type { ChatParams } from './chat-params.ts'
import type { LimitField, Quirks } from './quirks.ts'

/** Optional parameters, by their names on the endpoint's wire. */
const OPTIONAL = ['temperature', 'top_p', 'reasoning_effort', 'verbosity', 'parallel_tool_calls', 'stream_options'] as const
type OptionalParameter = (typeof OPTIONAL)[number]

/** Parameters whose absence the client is informed of, by their names in `POST /v1/responses`. */
const REPORTED: Partial<Readonly<Record<OptionalParameter, string>>> = {
  temperature: 'temperature',
  top_p: 'top_p',
  reasoning_effort: 'reasoning.effort',
  verbosity: 'text.verbosity',
}

const UNSUPPORTED_CODES: readonly unknown[] = ['unsupported_parameter', 'unsupported_value', 'unknown_parameter']
const UNSUPPORTED =
  /unsupported|not support|unknown|unrecogni[sz]ed|unexpected|not permitted|not allowed|not available|extra (?:input|field)/i

/** The parameters that one model rejects: from the table of quirks, and from the endpoint's errors since this process started. */
export class Capabilities {
  readonly #rejected = new Set<OptionalParameter>()
  readonly #rejectedFormats = new Set<string>()
  #limitField: LimitField
  #hasSwitchedLimit = false

  constructor(quirks: Quirks) {
    this.#limitField = quirks.limitField
    if (quirks.rejectsSampling) this.#rejected.add('temperature').add('top_p')
    if (quirks.rejectsParallelToolCalls) this.#rejected.add('parallel_tool_calls')
  }

  /** The request without what the model rejects; `dropped` has the names for the caller. */
  adapt(wanted: ChatParams): { readonly params: ChatParams; readonly dropped: readonly string[] } {
    const { max_completion_tokens: limit, ...rest } = wanted
    const params: ChatParams = { ...rest, ...(typeof limit === 'number' && { [this.#limitField]: limit }) }
    const removed = OPTIONAL.filter((name) => this.#rejected.has(name) && params[name] !== undefined)
    for (const name of removed) delete params[name]
    adaptFormat(params, this.#rejectedFormats)
    return { params, dropped: removed.flatMap((name) => REPORTED[name] ?? []) }
  }

  /** Records the parameter of `sent` that the endpoint rejected with this error. False: the error has another cause. */
  learn(cause: unknown, sent: ChatParams): boolean {
    const { response_format: format } = sent
    if (format !== undefined && isFormatRejection(cause)) {
      this.#rejectedFormats.add(format.type)
      return true
    }
    const error = rejectionOf(cause)
    if (error === null) return false
    if (!this.#hasSwitchedLimit && typeof sent[this.#limitField] === 'number' && isNamed(this.#limitField, error)) {
      this.#limitField = this.#limitField === 'max_tokens' ? 'max_completion_tokens' : 'max_tokens'
      this.#hasSwitchedLimit = true
      return true
    }
    const name = OPTIONAL.find((one) => sent[one] !== undefined && isNamed(one, error))
    if (name === undefined) return false
    this.#rejected.add(name)
    return true
  }
}

/** Replaces a format that the model rejects by its JSON mode, else by nothing. The schema is then part of the instructions. */
function adaptFormat(params: ChatParams, rejected: ReadonlySet<string>): void {
  const { response_format: format } = params
  if (format === undefined || !rejected.has(format.type)) return
  if (format.type === 'json_schema' && !rejected.has('json_object')) params.response_format = { type: 'json_object' }
  else delete params.response_format
  const instruction = formatInstruction(format.type === 'json_schema' ? (format.json_schema.schema ?? {}) : { type: 'object' })
  const [first, ...rest] = params.messages
  params.messages =
    first?.role === 'system' && typeof first.content === 'string'
      ? [{ ...first, content: `${first.content}\n\n${instruction}` }, ...rest]
      : [{ role: 'system', content: instruction }, ...params.messages]
}

/** An endpoint's error that names the format, unless the schema itself is wrong. */
function isFormatRejection(cause: unknown): boolean {
  if (!(cause instanceof Error)) return false
  const { status, code, param, message } = cause as Error & { readonly status?: unknown; readonly code?: unknown; readonly param?: unknown }
  if ((status !== 400 && status !== 422) || code === 'invalid_json_schema' || /invalid schema/i.test(message)) return false
  return /^response_format\b/.test(String(param)) || /response[_ ]format|json_schema|json_object|json mode/i.test(message)
}

interface Rejection {
  readonly message: string
  /** The field that the endpoint names in its error. */
  readonly param: string | null
}

/** An endpoint's error that says that a parameter is not supported; null for every other one, such as a value out of range. */
function rejectionOf(cause: unknown): Rejection | null {
  if (!(cause instanceof Error)) return null
  const { status, code, param, message } = cause as Error & { readonly status?: unknown; readonly code?: unknown; readonly param?: unknown }
  if (status !== 400 && status !== 422) return null
  if (!UNSUPPORTED_CODES.includes(code) && !UNSUPPORTED.test(message)) return null
  return { message, param: typeof param === 'string' && param !== '' ? param : null }
}

function isNamed(name: string, { param, message }: Rejection): boolean {
  if (param !== null) return param === name || param.replace('.', '_') === name || param === `text.${name}`
  return new RegExp(`\\b${name}\\b`, 'i').test(message)
}
