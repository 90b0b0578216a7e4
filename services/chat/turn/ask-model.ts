import { LIMITS } from '../../core/limits.ts'
import { ModelError, type ModelDelta, type ModelRequest } from '../../core/ports/chat-model.ts'
import type { OfferedModel } from '../../core/ports/model-catalogue.ts'
import { AnswerStream } from '../answer/answer-stream.ts'
import { assemble } from '../conversation/assemble.ts'
import { buildEntries } from '../conversation/build-entries.ts'
import type { Entry } from '../conversation/entry.ts'
import { estimateTokens, fitWindow } from '../conversation/fit-window.ts'
import { readHistory } from '../conversation/read-history.ts'
import { EXPLAIN } from '../conversation/system-prompt.ts'
import type { TurnDeps } from '../deps.ts'
import { offerTools, type OfferedTools } from '../tools/offered-tools.ts'
import { PYTHON } from '../tools/python.ts'
import { findWorkplace } from './find-container.ts'
import type { HeldRow } from './hold-row.ts'
import { nameableFiles } from './nameable-files.ts'
import { takeAnswer } from './take-answer.ts'
import type { Turn } from './turn.ts'

/** An answer that breaks off, or that calls tools that do not exist, is asked for again this often. */
const MAX_RETRIES = 2
const MAX_RESERVE = 8_192

/** Asks the model once more and takes its answer into the turn. An aborted call throws; what had been told by then is closed. */
export async function askModel(deps: TurnDeps, turn: Turn, held: HeldRow, isLast: boolean): Promise<void> {
  const { request } = turn.row
  const model = deps.models.find(request.model)
  if (model === null) {
    turn.error = {
      code: 'model_not_found',
      message: `The model ${request.model} is not offered any more. GET /v1/models lists those that are.`,
    }
    return
  }
  const offered = offerTools(
    request,
    deps.tools ?? [],
    turn.items.every((item) => item.type === 'message'),
  )
  const budget = budgetOf(model, request.maxOutputTokens, offered)
  const history = await readHistory(
    { ...deps.table, objects: deps.objects },
    turn.row,
    (turns) => estimateTokens(buildEntries({ request, items: turn.items, history: turns, files: [] })) > 4 * budget,
  )
  const workplace = await findWorkplace(deps, turn, history)
  const entries = buildEntries({ request, items: turn.items, history, files: workplace.files })
  if (isLast) entries.push(...explainEntries(entries, turn.failingTries))
  const files = nameableFiles(deps, turn, workplace)
  const extra: Entry[] = []

  for (let breaks = 0, isEmptyAgain = false; ;) {
    const answer = new AnswerStream({
      firstIndex: turn.items.length,
      files,
      containerId: workplace.containerId,
      isLast,
      kindOf: (name) => (isLast ? null : offered.kindOf(name)),
      emit: (fact, urgency) => turn.emit(fact, urgency),
    })
    const failure = await listen(
      model,
      modelRequest(turn, model, offered, fitWindow([...entries, ...extra], budget), isLast),
      answer,
      turn,
      held,
    )
    await answer.close({ isCut: failure !== null, wantsCode: !isLast && isForcedCode(offered) })
    const taken = takeAnswer(turn, answer)
    held.signal.throwIfAborted()
    if (failure !== null) {
      breaks += 1
      if (failure.isBreak && failure.error.retryable && breaks <= MAX_RETRIES) continue
      turn.error = { code: failure.error.status === 429 ? 'rate_limit_exceeded' : 'model_error', message: failure.error.message }
      return
    }
    if (taken === 'taken') return
    if (taken === 'empty' || isLast) {
      if (isEmptyAgain || isLast) {
        turn.incompleteReason = 'empty_answer'
        return
      }
      isEmptyAgain = true
      continue
    }
    extra.push(...unknownEntries(answer, offered))
    turn.failingTries += 1
    if (turn.failingTries >= LIMITS.maxFailingTries) return
  }
}

/** `isBreak`: the answer had begun, so nobody has tried again yet. */
interface Failure {
  readonly error: ModelError
  readonly isBreak: boolean
}

/** Reads the model's stream to its end; null when the answer is whole. */
async function listen(
  model: OfferedModel,
  request: ModelRequest,
  answer: AnswerStream,
  turn: Turn,
  held: HeldRow,
): Promise<Failure | null> {
  let hasBegun = false
  try {
    for await (const delta of model.chat.stream(request, held.signal)) {
      if (held.signal.aborted) break
      hasBegun = true
      if (delta.type === 'usage') addUsage(turn, delta)
      else await answer.push(delta)
    }
  } catch (cause) {
    if (cause instanceof ModelError) return { error: cause, isBreak: hasBegun }
    if (!held.signal.aborted) throw cause
  }
  if (answer.finishReason !== null && !held.signal.aborted) return null
  return { error: new ModelError('The answer of the model broke off. Try again.', { retryable: true, status: null }), isBreak: true }
}

function modelRequest(turn: Turn, model: OfferedModel, offered: OfferedTools, entries: readonly Entry[], isLast: boolean): ModelRequest {
  const { temperature, topP, maxOutputTokens } = turn.row.request
  return {
    model: model.upstreamName,
    messages: assemble(entries),
    tools: offered.tools,
    toolChoice: isLast ? 'none' : offered.choice,
    temperature,
    topP,
    maxOutputTokens,
  }
}

function budgetOf(model: OfferedModel, maxOutputTokens: number | null, offered: OfferedTools): number {
  const reserve = Math.min(maxOutputTokens ?? MAX_RESERVE, Math.floor(model.contextWindow / 4))
  return Math.max(1_024, model.contextWindow - reserve - Math.ceil(JSON.stringify(offered.tools).length / 4))
}

/** The caller insists on code, so code in the text counts as a call. */
const isForcedCode = (offered: OfferedTools): boolean =>
  (offered.choice === 'required' || (typeof offered.choice === 'object' && offered.choice.name === PYTHON)) &&
  offered.kindOf(PYTHON) === 'code'

/** The remark rides on the last result: not every endpoint takes a system message in the middle. */
function explainEntries(entries: Entry[], tries: number): Entry[] {
  const last = entries.at(-1)
  if (last?.kind !== 'result') return [{ kind: 'user', content: EXPLAIN(tries) }]
  entries.pop()
  return [{ ...last, text: `${last.text}\n\n${EXPLAIN(tries)}` }]
}

function unknownEntries(answer: AnswerStream, offered: OfferedTools): Entry[] {
  const names = offered.tools.map((tool) => tool.name).join(', ') || 'none'
  return answer.unknownCalls.flatMap((call): Entry[] => [
    { kind: 'call', call: { ...call, arguments: isJson(call.arguments) ? call.arguments : '{}' } },
    { kind: 'result', callId: call.id, text: `error: There is no tool ${JSON.stringify(call.name)}. Tools that exist: ${names}.` },
  ])
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

function addUsage(turn: Turn, delta: Extract<ModelDelta, { type: 'usage' }>): void {
  turn.usage = {
    inputTokens: turn.usage.inputTokens + delta.inputTokens,
    cachedTokens: turn.usage.cachedTokens + delta.cachedTokens,
    outputTokens: turn.usage.outputTokens + delta.outputTokens,
    reasoningTokens: turn.usage.reasoningTokens + delta.reasoningTokens,
  }
}
