import type { ChatParams } from './chat-params.ts'
import type { LimitField, Quirks } from './quirks.ts'

/** Parameters that a request can do without, by their names on the endpoint's wire. */
const OPTIONAL = ['temperature', 'top_p', 'reasoning_effort', 'verbosity', 'parallel_tool_calls', 'stream_options'] as const
type OptionalParameter = (typeof OPTIONAL)[number]

/** The parameters whose absence the caller can notice, by their names in `POST /v1/responses`. */
const REPORTED: Partial<Readonly<Record<OptionalParameter, string>>> = {
  temperature: 'temperature',
  top_p: 'top_p',
  reasoning_effort: 'reasoning.effort',
  verbosity: 'text.verbosity',
}

const UNSUPPORTED_CODES: readonly unknown[] = ['unsupported_parameter', 'unsupported_value', 'unknown_parameter']
const UNSUPPORTED =
  /unsupported|not support|unknown|unrecogni[sz]ed|unexpected|not permitted|not allowed|not available|extra (?:input|field)/i

/** Which parameters one model takes: what the table of quirks knows, and what the endpoint has rejected since this process started. */
export class Capabilities {
  readonly #rejected = new Set<OptionalParameter>()
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
    return { params, dropped: removed.flatMap((name) => REPORTED[name] ?? []) }
  }

  /** Notes which parameter of `sent` the endpoint rejected with this error. False: the error means something else. */
  learn(cause: unknown, sent: ChatParams): boolean {
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

interface Rejection {
  readonly message: string
  /** The field that the error is about, where the endpoint names it. */
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
