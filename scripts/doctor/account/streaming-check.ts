import { fail, ok, type Finding } from '../finding.ts'
import { call, reasonOf, type DoctorContainer } from './service-calls.ts'

const CHECK = 'Streaming'
/** Longest wait for the whole stream: a cold start, and the program. */
const TIMEOUT_MS = 240_000

export interface StreamedProgram {
  readonly lines: number
  /** Between two lines, milliseconds. */
  readonly pauseMs: number
}

const TEN_SECONDS: StreamedProgram = { lines: 20, pauseMs: 500 }

/** When parts of a stream arrived here, epoch ms. */
interface Arrivals {
  readonly outputs: readonly number[]
  /** Null: the stream ended without its last event. */
  readonly doneAt: number | null
}

/**
 * Whether events arrive while the code still runs. Whatever holds them back on the way, such as a buffering distribution, delivers the first line
 * at the end or the lines in few pieces.
 */
export async function checkStreaming(container: DoctorContainer, program: StreamedProgram = TEN_SECONDS): Promise<Finding> {
  try {
    return evaluateArrivals(await streamOf(container, program), program)
  } catch (error) {
    return fail(CHECK, `The event stream broke off: ${reasonOf(error)}. Compare the read time-out of the distribution with docs/aws.md.`)
  }
}

async function streamOf({ api, path }: DoctorContainer, { lines, pauseMs }: StreamedProgram): Promise<Arrivals> {
  const code = `import time\nfor number in range(${lines}):\n    print(number, flush=True)\n    time.sleep(${pauseMs / 1000})`
  const { id } = await call(api, { method: 'POST', path: `${path}/executions?wait=0`, body: { code, timeout_seconds: 60 } })
  const answer = await fetch(`${api.url}/v1/executions/${String(id)}/events`, {
    headers: { authorization: `Bearer ${api.key}`, accept: 'text/event-stream' },
    signal: AbortSignal.timeout(TIMEOUT_MS),
  })
  if (!answer.ok || answer.body === null) throw new Error(`it was answered with ${answer.status}`)
  const outputs: number[] = []
  let doneAt: number | null = null
  let text = ''
  for await (const chunk of answer.body.pipeThrough(new TextDecoderStream())) {
    const frames = `${text}${chunk}`.split('\n\n')
    text = frames.pop() ?? ''
    for (const frame of frames) {
      if (/^event: stdout$/m.test(frame)) outputs.push(Date.now())
      if (/^event: done$/m.test(frame)) doneAt = Date.now()
    }
  }
  return { outputs, doneAt }
}

/** A delay of half the program's time is more than any network needs, and less than a buffer causes. */
function evaluateArrivals({ outputs: [first, ...later], doneAt }: Arrivals, { lines, pauseMs }: StreamedProgram): Finding {
  const tookMs = lines * pauseMs
  if (doneAt === null) return fail(CHECK, 'The event stream ended before the event done: a part of the way closes open streams.')
  if (first === undefined) return fail(CHECK, 'The event stream has no output of a program that prints: see the log of the run worker.')
  const aheadMs = doneAt - first
  const longestMs = Math.max(...[...later, doneAt].map((at, place) => at - ([first, ...later][place] ?? first)))
  const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`
  const advice =
    'Something on the way buffers answers: the distribution, the function, or a proxy of your network. Run npm run deploy again.'
  if (aheadMs < tookMs / 2)
    return fail(
      CHECK,
      `The first line arrived ${seconds(aheadMs)} before the end of a program that prints for ${seconds(tookMs)}. ${advice}`,
    )
  if (longestMs > tookMs / 2) return fail(CHECK, `No line arrived for ${seconds(longestMs)} while a program printed. ${advice}`)
  return ok(CHECK, `the first line arrived ${seconds(aheadMs)} before the end; the longest pause between lines was ${seconds(longestMs)}`)
}
