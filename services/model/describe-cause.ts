/** Name and message of a thrown value, for logs. */
export const describeCause = (cause: unknown): string => (cause instanceof Error ? `${cause.name}: ${cause.message}` : String(cause))
