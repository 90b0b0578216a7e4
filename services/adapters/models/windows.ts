/** Families of models by their public names. The first row that matches counts; an operator's `context_window` has priority. */
interface Family {
  readonly model: RegExp
  /** Tokens that input and output may take together. */
  readonly contextWindow: number
  /** UTF-8 bytes to a token; a tokenizer with a small vocabulary needs more tokens. */
  readonly bytesPerToken?: number
}

const FAMILIES: readonly Family[] = [
  { model: /gpt-4\.1/, contextWindow: 1_047_576 },
  { model: /gpt-[5-9]/, contextWindow: 400_000 },
  { model: /gpt-oss/, contextWindow: 131_072 },
  { model: /gpt-4o|gpt-4-turbo|gpt-4-(?:0125|1106)|chatgpt-4o/, contextWindow: 128_000 },
  { model: /gpt-4-32k/, contextWindow: 32_768 },
  { model: /gpt-4/, contextWindow: 8_192 },
  { model: /gpt-3\.5/, contextWindow: 16_385 },
  { model: /(?:^|\/)o[134](?:-|$)/, contextWindow: 200_000 },
  { model: /claude/i, contextWindow: 200_000, bytesPerToken: 3.2 },
  { model: /gemini/i, contextWindow: 1_048_576 },
  { model: /llama-?3\.[1-3]|llama-?4/i, contextWindow: 131_072 },
  { model: /llama-?3/i, contextWindow: 8_192 },
  { model: /qwen/i, contextWindow: 32_768 },
  { model: /deepseek/i, contextWindow: 65_536 },
  { model: /mi[sx]tral/i, contextWindow: 32_768, bytesPerToken: 3.2 },
  { model: /gemma-?[34]/i, contextWindow: 131_072 },
  { model: /gemma|phi/i, contextWindow: 8_192, bytesPerToken: 3.2 },
]
/** The window of a model that is not in the table. */
const UNKNOWN = { contextWindow: 128_000, bytesPerToken: 3.6 }

export function windowOf(model: string): { readonly contextWindow: number; readonly bytesPerToken: number } {
  const family = FAMILIES.find((row) => row.model.test(model))
  return { contextWindow: family?.contextWindow ?? UNKNOWN.contextWindow, bytesPerToken: family?.bytesPerToken ?? UNKNOWN.bytesPerToken }
}
