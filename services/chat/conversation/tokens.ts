import type { Entry } from './entry.ts'

/** How a model counts. A rough word about its tokenizer is enough: what it got wrong the endpoint says, and then less is sent. */
export interface TokenMeter {
  /** UTF-8 bytes that make up one token on average. */
  readonly bytesPerToken: number
  readonly tokensPerImage: number
}

/** What the wrapping of one entry as a message costs, tokens. */
const TOKENS_PER_ENTRY = 8
/** A call without a result is sent with a remark in the place of the result. */
const TOKENS_PER_CALL = 16

/** What entries cost a model, tokens; never less than what is put together from them. */
export function estimateTokens(entries: readonly Entry[], meter: TokenMeter): number {
  return entries.reduce((sum, entry) => sum + tokensOf(entry, meter), 0)
}

export function tokensOf(entry: Entry, meter: TokenMeter): number {
  return TOKENS_PER_ENTRY + contentTokens(entry, meter)
}

function contentTokens(entry: Entry, meter: TokenMeter): number {
  switch (entry.kind) {
    case 'user':
      return typeof entry.content === 'string'
        ? textTokens(entry.content, meter)
        : entry.content.reduce((sum, part) => sum + (part.type === 'text' ? textTokens(part.text, meter) : meter.tokensPerImage), 0)
    case 'call':
      return TOKENS_PER_CALL + textTokens(entry.call.name, meter) + textTokens(entry.call.arguments, meter)
    default:
      return textTokens(entry.text, meter)
  }
}

export const textTokens = (text: string, meter: TokenMeter): number => Math.ceil(Buffer.byteLength(text) / meter.bytesPerToken)
