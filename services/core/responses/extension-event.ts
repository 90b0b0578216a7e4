/**
 * The type of events that carry what OpenAI's wire has no word for, in `x_cellblock`: its own clients know it and do nothing with it, while they
 * end a stream at a type that they do not know.
 */
export const EXTENSION_EVENT = 'keepalive'

/** `type` tells what it is about, for readers that look. */
export const extensionData = (
  type: 'context_cut' | 'code_interpreter_call_output' | 'taken_over',
  fields: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> => ({ x_cellblock: { type, ...fields } })
