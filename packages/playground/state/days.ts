import type { Chat } from './chats.ts'

const DAY_MS = 86_400_000
const RECENT_DAYS = 7

/** Chats in the order of the list, under the day or the month of their last activity. */
export function byDay(chats: readonly Chat[], now: Date): readonly { readonly title: string; readonly chats: readonly Chat[] }[] {
  const groups = new Map<string, Chat[]>()
  for (const chat of chats) {
    const title = dayTitle(new Date(chat.updatedAt * 1000), now)
    groups.set(title, [...(groups.get(title) ?? []), chat])
  }
  return [...groups].map(([title, list]) => ({ title, chats: list }))
}

function dayTitle(date: Date, now: Date): string {
  const midnight = new Date(now.getFullYear(), now.getMonth(), now.getDate()).getTime()
  const days = Math.ceil((midnight - date.getTime()) / DAY_MS)
  if (days <= 0) return 'Today'
  if (days === 1) return 'Yesterday'
  if (days <= RECENT_DAYS) return 'Last 7 days'
  return date.toLocaleDateString('en', { month: 'long', year: 'numeric' })
}
