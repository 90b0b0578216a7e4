import type { Entry } from '../../../model/responses/items/entry.ts'

/** How a model counts tokens. An estimate is enough: the endpoint rejects a request that is too long, and less is sent then. */
export interface TokenMeter {
  /** UTF-8 bytes that make up one token on average. */
  readonly bytesPerToken: number
  readonly tokensPerImage: number
}

/** Tokens of one message without its content. */
const TOKENS_PER_ENTRY = 8
/** A call without a result is sent with a note instead of the result. */
const TOKENS_PER_CALL = 16

/** Upper bound of the tokens of the messages that are built from these entries. */
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
    case 'result':
      return textTokens(entry.text, meter) + (entry.images?.length ?? 0) * meter.tokensPerImage
    default:
      return textTokens(entry.text, meter)
  }
}

export const textTokens = (text: string, meter: TokenMeter): number => Math.ceil(Buffer.byteLength(text) / meter.bytesPerToken)
