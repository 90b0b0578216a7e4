import { expect } from 'vitest'
import type { ResponseEvent } from '../../services/core/events.ts'
import type { ResponseRecord } from '../../services/core/responses/response.ts'
import { streamFaults } from './stream-faults.ts'

/** The stream of a response that has ended is whole, and tells what the row has. */
export const checkResponseStream = (events: readonly ResponseEvent[], row: ResponseRecord): void =>
  expect(streamFaults(events, row)).toEqual([])
