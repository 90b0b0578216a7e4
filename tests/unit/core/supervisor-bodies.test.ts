import { expect, it } from 'vitest'
import { commandBody, executeBody, inputBody } from '../../../services/adapters/supervisor-client/bodies.ts'
import { LIMITS } from '../../../services/model/limits.ts'

const STREAMS = { v: 1, max_output_bytes: LIMITS.maxStreamHeadBytes, tail_bytes: LIMITS.maxStreamTailBytes }
const read = (body: Buffer): unknown => JSON.parse(body.toString())

it('sends every field of a request in snake case, and the bounds of the streams', () => {
  const cells = [{ code: 'print(1)' }]
  expect(read(executeBody({ cells, onError: 'stop', storeHistory: true, timeoutMs: 1_000, maxTotalBytes: 10 }))).toEqual({
    ...STREAMS,
    cells,
    on_error: 'stop',
    store_history: true,
    timeout_ms: 1_000,
    max_total_bytes: 10,
  })
})

it('sends whether the input of a command stays open', () => {
  const body = commandBody({ argv: ['true'], env: {}, cwd: null, stdin: null, hasOpenInput: true, pty: null, timeoutMs: 1_000 })
  expect(read(body)).toMatchObject({ ...STREAMS, argv: ['true'], stdin_open: true })
  expect(read(body)).not.toHaveProperty('has_open_input')
})

it('asks for a longer head of a stream that a client follows', () => {
  const request = { argv: ['true'], env: {}, cwd: null, stdin: null, hasOpenInput: false, pty: null, timeoutMs: 1_000 }
  expect(read(commandBody({ ...request, maxOutputBytes: LIMITS.maxFollowedHeadBytes }))).toMatchObject({
    ...STREAMS,
    max_output_bytes: LIMITS.maxFollowedHeadBytes,
  })
})

it.each([
  [{ seq: 1, type: 'stdin', data: 'eA==' } as const, { seq: 1, data: 'eA==' }],
  [{ seq: 2, type: 'close' } as const, { seq: 2 }],
  [{ seq: 3, type: 'signal', signal: 2 } as const, { seq: 3, signal: 2 }],
  [{ seq: 4, type: 'resize', cols: 80, rows: 24 } as const, { seq: 4, size: { cols: 80, rows: 24 } }],
])('sends the input %o', (event, entry) => {
  expect(read(inputBody([{ ...event, at: 0, total: 4 }]))).toEqual({ entries: [entry] })
})
