import { expect, it } from 'vitest'
import * as z from 'zod'
import { executionEventSchema, executionFrameSchemas } from '../../../services/model/executions/events/event-types.ts'

const frames = executionFrameSchemas(z.object({ path: z.string() }))
const numbered = { seq: 1, at: '2026-01-01T00:00:00.000Z' }
const error = { output_type: 'error', ename: 'E', evalue: 'x', traceback: [] }

it.each([
  ['status', { status: 'running' }],
  ['stdout', { cell: 0, text: 'x' }],
  ['stderr', { cell: 0, text: 'x' }],
  ['output', { cell: 0, output: error, display_id: 'd', replaces: true }],
  ['clear', { cell: 0, wait: false }],
  ['file', { file: { path: 'a' } }],
  ['lost', { what: 'outputs', reason: 'x' }],
  ['done', { status: 'failed', reason: null }],
] as const)('has a frame for the event %s', (type, fields) => {
  expect(frames[type].safeParse({ ...numbered, ...fields }).error).toBeUndefined()
  expect(frames[type].safeParse({ ...numbered, at: 1, ...fields }).success).toBe(false)
})

it('refuses an event that is not in the log format', () => {
  const isLogged = (fields: object): boolean => executionEventSchema.safeParse({ seq: 1, at: 2, ...fields }).success
  expect(isLogged({ type: 'output', cell: 0, output: error })).toBe(true)
  expect(isLogged({ type: 'output', cell: -1, output: error })).toBe(false)
  expect(isLogged({ type: 'output', seq: -1, cell: 0, output: error })).toBe(false)
  expect(isLogged({ type: 'unknown', cell: 0 })).toBe(false)
})
