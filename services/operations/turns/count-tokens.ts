/** UTF-8 bytes of one token on average; the chat workers use the same figure for a model whose tokenizer is unknown. */
const BYTES_PER_TOKEN = 3.6
const TOKENS_PER_IMAGE = 1_000
const TOKENS_PER_ITEM = 8

/** An estimate of the tokens of an input, because every model has another tokenizer. Images count as a fixed number, whatever their size. */
export function estimateInputTokens(parts: { readonly input: unknown; readonly instructions?: unknown; readonly tools?: unknown }): number {
  const items = Array.isArray(parts.input) ? parts.input.length : 1
  return items * TOKENS_PER_ITEM + tokensOf(parts.input) + tokensOf(parts.instructions) + tokensOf(parts.tools)
}

function tokensOf(value: unknown): number {
  if (typeof value === 'string') return Math.ceil(Buffer.byteLength(value) / BYTES_PER_TOKEN)
  if (Array.isArray(value)) return value.reduce<number>((sum, part) => sum + tokensOf(part), 0)
  if (typeof value !== 'object' || value === null) return 0
  const { type } = value as { readonly type?: unknown }
  if (type === 'input_image') return TOKENS_PER_IMAGE
  return Object.entries(value).reduce((sum, [name, part]) => sum + (name === 'type' || name === 'id' ? 0 : tokensOf(part)), 0)
}
