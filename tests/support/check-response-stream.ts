import { expect } from 'vitest'
import type { ResponseEvent } from '../../services/model/events.ts'
import type { ResponseRecord } from '../../services/model/responses/response.ts'
import { streamFaults } from './stream-faults.ts'

/** Checks that the stream of an ended response is complete and matches its row. */
export const checkResponseStream = (events: readonly ResponseEvent[], row: ResponseRecord): void =>
  expect(streamFaults(events, row)).toEqual([])
