import { fail, ok, warn, type Finding } from '../finding.ts'
import { call, reasonOf, type Api, type DoctorContainer } from './service-calls.ts'

const CHECK = 'Long call'
/** Longer than the distribution waits for a byte of its origin. */
const SECONDS = 130
/** A cold start, the model and the queues besides the code. */
const EXTRA_MS = 300_000
const DEMO = 'demo'

/** One block may take 120 s. */
const BLOCK_SECONDS = 100

/** At least two blocks. The demo model runs exactly these; a language model is asked to. */
const inputFor = (seconds: number): string => {
  const count = Math.max(2, Math.ceil(seconds / BLOCK_SECONDS))
  const block = `\`\`\`python\nimport time\ntime.sleep(${seconds / count})\nprint("slept")\n\`\`\``
  const blocks = Array.from({ length: count }, () => block).join('\n\n')
  return `Run each of these ${count} blocks unchanged with the code interpreter, one call after the other. Then answer "done".\n\n${blocks}`
}

/** Whether a plain call survives that takes longer than the distribution waits: the API sends whitespace before its JSON. */
export async function checkLongCall({ api, id }: DoctorContainer, { seconds = SECONDS } = {}): Promise<Finding> {
  const began = Date.now()
  const took = (): string => `${Math.round((Date.now() - began) / 1000)} s`
  try {
    const model = await modelOf(api)
    const body = { model, input: inputFor(seconds), tools: [{ type: 'code_interpreter', container: id }] }
    const answer = await fetch(`${api.url}/v1/responses`, {
      method: 'POST',
      headers: { authorization: `Bearer ${api.key}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(seconds * 1000 + EXTRA_MS),
    })
    const text = await answer.text()
    if (answer.status !== 200) return fail(CHECK, `It was answered with ${answer.status} after ${took()}. ${ADVICE}`)
    const { status } = JSON.parse(text) as { readonly status?: string }
    if (status !== 'completed') return fail(CHECK, `It ended as ${status} after ${took()}: see the log of the chat worker.`)
    return Date.now() - began < seconds * 1000
      ? warn(CHECK, `${model} answered after ${took()} without running the code, so nothing is proven. Remove models.list for this check.`)
      : ok(CHECK, `a plain POST /v1/responses of ${took()} was answered whole`)
  } catch (error) {
    return fail(CHECK, `The connection broke after ${took()} (${reasonOf(error)}). ${ADVICE}`)
  }
}

const ADVICE =
  'The distribution must wait 120 s for a byte, and the API sends one every 20 s: check the origin read time-out (some accounts need a higher quota for it).'

/** The demo model needs no key; a deployment with configured models has no demo. */
async function modelOf(api: Api): Promise<string> {
  const { data } = (await call(api, { method: 'GET', path: '/v1/models' })) as { data?: readonly { readonly id: string }[] }
  const ids = (data ?? []).map((model) => model.id)
  const model = ids.includes(DEMO) ? DEMO : ids[0]
  if (model === undefined) throw new Error('the service offers no model')
  return model
}
