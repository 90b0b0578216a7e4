/** Marks the content as written by this service, and its version. */
const PREFIX = 'cellblock.1.'

/**
 * The `encrypted_content` of a compaction item: the summary of a conversation, which clients return unread. It is encoded, not encrypted, because it
 * contains nothing that its owner did not send or receive.
 */
export const encodeSummary = (summary: string): string => PREFIX + Buffer.from(JSON.stringify({ summary })).toString('base64url')

/** The summary in the content of a compaction item; null for one that another service wrote. */
export function decodeSummary(content: unknown): string | null {
  if (typeof content !== 'string' || !content.startsWith(PREFIX)) return null
  try {
    const { summary } = JSON.parse(Buffer.from(content.slice(PREFIX.length), 'base64url').toString()) as { readonly summary?: unknown }
    return typeof summary === 'string' ? summary : null
  } catch {
    return null
  }
}
