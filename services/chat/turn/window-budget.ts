import type { ModelError } from '../../core/ports/chat-model.ts'
import type { OfferedModel } from '../../core/ports/model-catalogue.ts'
import type { ContextCut } from '../../core/responses/response.ts'
import type { Entry } from '../conversation/entry.ts'
import { fitWindow } from '../conversation/fit-window.ts'
import { textTokens, type TokenMeter } from '../conversation/tokens.ts'
import type { OfferedTools } from '../tools/offered-tools.ts'
import type { Turn } from './turn.ts'

/** Kept free for an answer of which nobody said how long it may be; a quarter of the window at most, tokens. */
const RESERVE = 8_192
const LEAST_BUDGET = 256
const TOKENS_PER_IMAGE = 1_000
/** An endpoint that finds the conversation too long gets this much less, this often. */
const SHRINK = 0.6
const MAX_SHRINKS = 6

/** How much of a conversation goes to a model. Shrinks when the endpoint says that it was too much. */
export class WindowBudget {
  readonly meter: TokenMeter
  #window: number
  #tokens: number
  #shrinks = 0
  readonly #taken: number

  constructor(model: OfferedModel, maxOutputTokens: number | null, offered: OfferedTools) {
    this.meter = { bytesPerToken: model.bytesPerToken, tokensPerImage: TOKENS_PER_IMAGE }
    this.#window = model.contextWindow
    // Endpoints add up what goes in and what may come out, and refuse the sum.
    const reserve =
      maxOutputTokens === null
        ? Math.min(RESERVE, Math.floor(model.contextWindow / 4))
        : Math.min(maxOutputTokens, Math.floor(model.contextWindow / 2))
    this.#taken = reserve + textTokens(JSON.stringify(offered.tools), this.meter)
    this.#tokens = Math.max(LEAST_BUDGET, model.contextWindow - this.#taken)
  }

  get tokens(): number {
    return this.#tokens
  }

  /** The entries that go out; what is left of the conversation is noted in the turn, and told when it changes. */
  fit(turn: Turn, entries: readonly Entry[], isHistoryWhole: boolean): readonly Entry[] {
    const { entries: fitted, cut } = fitWindow(entries, this.#tokens, this.meter)
    const isCut = !isHistoryWhole || Object.values(cut).some((count) => count > 0)
    turn.noteContext(isCut ? ({ windowTokens: this.#window, ...cut, isHistoryWhole } satisfies ContextCut) : null)
    return fitted
  }

  /** Takes in that the endpoint refused the conversation as too long; false when there is nothing left to try. */
  shrink({ tooLong }: ModelError): boolean {
    if (tooLong === null || this.#shrinks === MAX_SHRINKS || this.#tokens === LEAST_BUDGET) return false
    this.#shrinks += 1
    const told = tooLong.window === null ? Infinity : tooLong.window - this.#taken
    this.#window = Math.min(this.#window, tooLong.window ?? Math.floor(this.#window * SHRINK))
    this.#tokens = Math.max(LEAST_BUDGET, Math.floor(Math.min(this.#tokens * SHRINK, told)))
    return true
  }
}
