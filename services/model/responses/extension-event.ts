/**
 * The type of events with Cellblock's extensions, in `x_cellblock`. OpenAI's clients know this type and ignore it; they end a stream at a type that
 * they do not know.
 */
export const EXTENSION_EVENT = 'keepalive'

/** `type` is the kind of the extension. */
export const extensionData = (
  type: 'context_cut' | 'code_interpreter_call_output' | 'taken_over',
  fields: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> => ({ x_cellblock: { type, ...fields } })
