/** One request or job: what happened, its outcome, ids and phases in ms. Never code, outputs, prompts, keys or signed URLs. */
export type WideEvent = { readonly event: string; readonly outcome: string } & Readonly<Record<string, string | number | boolean | null>>
