import type OpenAI from 'openai'
import type { ResponseCreateParamsNonStreaming, Tool } from 'openai/resources/responses/responses'
import { afterAll, beforeAll } from 'vitest'
import type { ResponseEvent } from '../../services/model/events.ts'
import type { ResponseRecord, ResponseRequest } from '../../services/model/responses/response.ts'
import { checkResponseStream } from './check-response-stream.ts'
import { say, type ScriptedAnswer, type ScriptedUpstream, type UpstreamRequest } from './scripted-upstream.ts'
import { startWorkedApi, type PlayCode, type WorkedApi } from './start-worked-api.ts'
import { startTurnBench, type RunCode, type TurnBench } from './turn-bench.ts'

export const codeTools: Tool[] = [{ type: 'code_interpreter', container: { type: 'auto' } }]

/** Code that prints that it ran. */
const ranCode: PlayCode = (code) => ({
  result: {
    stdout: `ran ${code}\n`,
    cells: [{ index: 0, status: 'ok', executionCount: 1, outputs: [{ output_type: 'stream', name: 'stdout', text: `ran ${code}\n` }] }],
  },
})

/** The answers in order; the last one repeats. */
const playInOrder = (upstream: ScriptedUpstream, answers: readonly ScriptedAnswer[]): void =>
  upstream.play((_, turn) => answers[Math.min(turn, answers.length - 1)] ?? say(''))

export interface WireFixture {
  readonly worked: WorkedApi
  readonly client: OpenAI
  readonly inOrder: (...answers: readonly ScriptedAnswer[]) => void
  /** One whole response of the scripted model. */
  readonly ask: (change?: Partial<ResponseCreateParamsNonStreaming>) => Promise<OpenAI.Responses.Response>
}

/** An API server for this test file, whose code prints that it ran. Started before the tests, stopped after them. */
export function wireFixture(): WireFixture {
  let worked: WorkedApi
  let client: OpenAI
  beforeAll(async () => {
    worked = await startWorkedApi()
    client = worked.api.openai()
    worked.runs(ranCode)
  })
  afterAll(() => worked.stop())
  return {
    get worked() {
      return worked
    },
    get client() {
      return client
    },
    inOrder: (...answers) => playInOrder(worked.upstream, answers),
    ask: (change = {}) => client.responses.create({ model: 'scripted', input: 'Go', ...change }),
  }
}

export interface TurnFixture {
  readonly bench: TurnBench
  readonly inOrder: (...answers: readonly ScriptedAnswer[]) => void
  /** Runs one response to its end and checks its stream. */
  readonly play: (
    request: Partial<ResponseRequest>,
    run?: RunCode,
  ) => Promise<{ readonly row: ResponseRecord; readonly events: readonly ResponseEvent[]; readonly requests: readonly UpstreamRequest[] }>
}

/** A turn bench for this test file. Started before the tests, stopped after them. */
export function turnFixture(): TurnFixture {
  let bench: TurnBench
  beforeAll(async () => {
    bench = await startTurnBench()
  })
  afterAll(() => bench.stop())
  return {
    get bench() {
      return bench
    },
    inOrder: (...answers) => playInOrder(bench.upstream, answers),
    async play(request, run) {
      const { id } = await bench.accept(request)
      const row = await bench.finish(id, run)
      const events = await bench.events(id)
      checkResponseStream(events, row)
      return { row, events, requests: bench.upstream.requests }
    },
  }
}
