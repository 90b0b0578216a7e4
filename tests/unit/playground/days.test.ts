import { expect, it } from 'vitest'
import type { Chat } from '../../../packages/playground/state/chats.ts'
import { byDay } from '../../../packages/playground/state/days.ts'

it('groups chats by the day, then by the month, of their last activity', () => {
  const now = new Date(2026, 10, 26, 9)
  const chat = (title: string, date: Date): Chat => ({
    key: title,
    id: title,
    title,
    containerId: null,
    updatedAt: date.getTime() / 1000,
    isArchived: false,
    running: [],
    unfinished: [],
  })
  const list = [
    chat('now', now),
    chat('midnight', new Date(2026, 10, 26)),
    chat('late', new Date(2026, 10, 25, 23, 59)),
    chat('week', new Date(2026, 10, 20)),
    chat('month', new Date(2026, 10, 2)),
    chat('older', new Date(2025, 11, 31)),
  ]
  expect(byDay(list, now).map(({ title, chats }) => [title, ...chats.map((one) => one.title)])).toEqual([
    ['Today', 'now', 'midnight'],
    ['Yesterday', 'late'],
    ['Last 7 days', 'week'],
    ['November 2026', 'month'],
    ['December 2025', 'older'],
  ])
})
