import type { ModelError } from '../../ports/chat-model.ts'
import type { OfferedModel } from '../../ports/model-catalogue.ts'
import type { ContextCut } from '../../model/responses/response.ts'
import { fitWindow } from './conversation/fit-window.ts'
import { textTokens, type TokenMeter } from './conversation/tokens.ts'
import type { OfferedTools } from './tools/offered-tools.ts'
import type { Entry } from '../../model/responses/items/entry.ts'
import { LIMITS } from '../../model/limits.ts'
import type { EnforcedFormat } from './enforce-format.ts'
import type { Failure, Verdict } from './read-answer.ts'
import type { TurnState } from './turn-state.ts'

/** Number of retries of an incomplete answer. */
const MAX_RETRIES = 2
/** Reserved for an answer without a limit, tokens; at most a quarter of the window. */
const DEFAULT_RESERVE = 8_192
const MIN_BUDGET = 256
const TOKENS_PER_IMAGE = 1_000
/** When an endpoint rejects the conversation as too long, the budget shrinks by this factor, at most this often. */
const SHRINK_FACTOR = 0.6
const MAX_SHRINKS = 6

/** Limits the size of the conversation that is sent to a model. The budget shrinks when the endpoint rejects a conversation as too long. */
export class WindowBudget {
  readonly meter: TokenMeter
  #window: number
  #tokens: number
  #shrinks = 0
  /** For the answer and the tools, tokens. */
  readonly #reserved: number

  constructor(model: OfferedModel, maxOutputTokens: number | null, offered: OfferedTools) {
    this.meter = { bytesPerToken: model.bytesPerToken, tokensPerImage: TOKENS_PER_IMAGE }
    this.#window = model.contextWindow
    // Endpoints add the input and the maximum output, and reject a sum above the window.
    const forAnswer =
      maxOutputTokens === null
        ? Math.min(DEFAULT_RESERVE, Math.floor(model.contextWindow / 4))
        : Math.min(maxOutputTokens, Math.floor(model.contextWindow / 2))
    this.#reserved = forAnswer + textTokens(JSON.stringify(offered.tools), this.meter)
    this.#tokens = Math.max(MIN_BUDGET, model.contextWindow - this.#reserved)
  }

  get tokens(): number {
    return this.#tokens
  }

  /** The entries to send, and the omitted parts of the conversation; null when it is complete. */
  fit(entries: readonly Entry[], isHistoryWhole: boolean): { readonly entries: readonly Entry[]; readonly cut: ContextCut | null } {
    const { entries: fitted, cut } = fitWindow(entries, this.#tokens, this.meter)
    const isCut = !isHistoryWhole || Object.values(cut).some((count) => count > 0)
    return { entries: fitted, cut: isCut ? { windowTokens: this.#window, ...cut, isHistoryWhole } : null }
  }

  /** Shrinks the budget after the endpoint rejected the conversation as too long. False when the error means something else, or nothing is left to try. */
  shrink({ tooLong }: ModelError): boolean {
    if (tooLong === null || this.#shrinks === MAX_SHRINKS || this.#tokens === MIN_BUDGET) return false
    this.#shrinks += 1
    const named = tooLong.window === null ? Infinity : tooLong.window - this.#reserved
    this.#window = Math.min(this.#window, tooLong.window ?? Math.floor(this.#window * SHRINK_FACTOR))
    this.#tokens = Math.max(MIN_BUDGET, Math.floor(Math.min(this.#tokens * SHRINK_FACTOR, named)))
    return true
  }
}

/** Attempts at one answer of the model. They are known to this process only. */
export interface Attempts {
  readonly budget: WindowBudget
  /** Whether this is the first model call of the turn; a forced `tool_choice` applies to it only. */
  readonly isFirst: boolean
  /** What tells the model why earlier attempts were not usable. */
  readonly corrections: readonly Entry[]
  /** Corrections of the answer's format. */
  readonly repairs: number
  readonly breaks: number
  readonly hasBeenEmpty: boolean
}

/** `attempts` null: the call is answered, or there is no retry. */
export interface Next {
  readonly attempts: Attempts | null
  readonly state?: Partial<Omit<TurnState, 'items'>>
}
export const END: Next = { attempts: null }
/** The process ends soon. Another call would answer from the beginning, after a part of this answer has reached readers, so there is none. */
export const OUT_OF_TIME: Next = { attempts: null, state: { incompleteReason: 'max_answer_seconds' } }

export function afterFailure(attempts: Attempts, failure: Failure): Next {
  const { error, hasBegun } = failure
  if (attempts.budget.shrink(error)) return { attempts }
  const breaks = attempts.breaks + 1
  if (hasBegun && error.retryable && breaks <= MAX_RETRIES) return { attempts: { ...attempts, breaks } }
  const code = error.tooLong !== null ? 'context_length_exceeded' : error.status === 429 ? 'rate_limit_exceeded' : 'model_error'
  return { attempts: null, state: { error: { code, message: error.message } } }
}

export function afterCheck(attempts: Attempts, checked: NonNullable<EnforcedFormat>): Next {
  if ('error' in checked) return { attempts: null, state: { error: { code: 'invalid_prompt', message: checked.error } } }
  return { attempts: { ...attempts, repairs: attempts.repairs + 1, corrections: [...attempts.corrections, ...checked.corrections] } }
}

/** A complete answer. `rejected`: tells the model why its calls became no item. */
interface Answered {
  readonly verdict: Verdict
  readonly isLast: boolean
  readonly rejected: readonly Entry[]
}

export function afterAnswer(attempts: Attempts, failures: number, { verdict, isLast, rejected }: Answered): Next {
  if (verdict === 'usable') return END
  if (verdict === 'empty' || isLast) {
    if (attempts.hasBeenEmpty || isLast) return { attempts: null, state: { incompleteReason: 'empty_answer' } }
    return { attempts: { ...attempts, hasBeenEmpty: true } }
  }
  const consecutiveFailures = failures + 1
  if (consecutiveFailures >= LIMITS.maxConsecutiveFailures) return { attempts: null, state: { consecutiveFailures } }
  return { attempts: { ...attempts, corrections: [...attempts.corrections, ...rejected] }, state: { consecutiveFailures } }
}
