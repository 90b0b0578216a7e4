import { expect } from 'vitest'
import type { ResponseEvent } from '../../services/core/events.ts'
import type { ResponseRecord } from '../../services/core/responses/response.ts'
import { streamFaults } from './stream-faults.ts'

/** Checks that the stream of an ended response is complete and matches its row. */
export const checkResponseStream = (events: readonly ResponseEvent[], row: ResponseRecord): void =>
  expect(streamFaults(events, row)).toEqual([])
