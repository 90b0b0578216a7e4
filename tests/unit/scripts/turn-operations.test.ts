import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { PER_START, PER_TURN, SQS_REQUESTS_PER_MESSAGE } from '../../../scripts/operate/cost/operations.ts'
import { TYPICAL } from '../../../scripts/operate/cost/usage.ts'
import { openSqlite } from '../../../services/adapters/storage/sqlite/open-sqlite.ts'
import { seededRandom, VirtualTime } from '../../../scripts/operate/simulate/virtual-time.ts'
import { useVirtualTimers } from '../../../scripts/operate/simulate/virtual-timers.ts'
import { playConversation, type PlayedConversation } from '../../support/metered/play-conversation.ts'

describe('what a typical turn is billed', () => {
  let folder: string
  let played: PlayedConversation
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'cellblock-metered-'))
    const store = await openSqlite(join(folder, 'rows.sqlite'), { isDurable: false })
    const time = new VirtualTime(Date.UTC(2026, 0, 1))
    const restoreTimers = useVirtualTimers(time, seededRandom(1))
    const { modelSeconds, runSeconds, turnsPerContainer } = TYPICAL
    try {
      played = await playConversation({ time, rows: store.items, modelSeconds: modelSeconds / 2, runSeconds }, turnsPerContainer)
    } finally {
      restoreTimers()
      await store.close()
    }
  })
  afterAll(() => rm(folder, { recursive: true, force: true }))

  it('is counted from turns that succeed', () => {
    expect([new Set(played.statuses), played.errors]).toEqual([new Set(['completed']), []])
  })
  it.each(['turn', 'start'] as const)('has the units of a %s, or up to a tenth more', (part) => {
    const [counted, assumed] = part === 'turn' ? [played.perTurn, PER_TURN] : [played.perStart, PER_START]
    const pairs = [
      [assumed.dynamodbWrites, counted.writes],
      [assumed.dynamodbReads, counted.reads],
      [assumed.sqsRequests, SQS_REQUESTS_PER_MESSAGE * counted.messages],
    ] as const
    for (const [units, found] of pairs) {
      expect(units).toBeGreaterThanOrEqual(found)
      expect(units).toBeLessThanOrEqual(found * 1.1)
    }
  })
})
