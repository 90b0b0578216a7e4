/** Tells a model without structured outputs what to write. */
export const formatInstruction = (schema: unknown): string =>
  `Answer with one JSON value that satisfies this JSON schema. Write nothing else: no explanation, no code fence.\n${JSON.stringify(schema)}`
