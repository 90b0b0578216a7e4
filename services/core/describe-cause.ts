/** What is told of whatever was thrown: its kind and its words. */
export const describeCause = (cause: unknown): string => (cause instanceof Error ? `${cause.name}: ${cause.message}` : String(cause))
