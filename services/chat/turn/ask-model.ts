import { LIMITS } from '../../core/limits.ts'
import type { Source } from '../../core/ports/tool.ts'
import { AnswerStream } from '../answer/answer-stream.ts'
import { assemble } from '../conversation/assemble.ts'
import { buildEntries } from '../conversation/build-entries.ts'
import type { Entry } from '../conversation/entry.ts'
import { readHistory } from '../conversation/read-history.ts'
import { EXPLAIN } from '../conversation/system-prompt.ts'
import { estimateTokens } from '../conversation/tokens.ts'
import type { TurnDeps } from '../deps.ts'
import { offerTools, type OfferedTools } from '../tools/offered-tools.ts'
import { PYTHON } from '../tools/python.ts'
import { findWorkplace } from './find-container.ts'
import type { LeaseHeartbeat } from '../../jobs/lease-heartbeat.ts'
import { listen, type Failure } from './listen.ts'
import { modelRequest } from './model-request.ts'
import { nameableFiles } from './nameable-files.ts'
import { showPictures } from './show-pictures.ts'
import { takeAnswer } from './take-answer.ts'
import type { Turn } from './turn.ts'
import { WindowBudget } from './window-budget.ts'

/** An answer that breaks off, or that calls tools that do not exist, is asked for again this often. */
const MAX_RETRIES = 2
/** History is read until it is this many times what fits: results in it may shrink. */
const READ_AHEAD = 4

/** Asks the model once more and takes its answer into the turn. An aborted call throws; what had been told by then is closed. */
export async function askModel(deps: TurnDeps, turn: Turn, held: LeaseHeartbeat, isLast: boolean): Promise<void> {
  const { request } = turn.row
  const model = deps.models.find(request.model)
  if (model === null) {
    turn.error = {
      code: 'model_not_found',
      message: `The model ${request.model} is not offered any more. GET /v1/models lists those that are.`,
    }
    return
  }
  const isFirst = turn.items.every((item) => item.type === 'message')
  const offered = offerTools(request, deps.tools ?? [], isFirst)
  const budget = new WindowBudget(model, request.maxOutputTokens, offered)
  const { fencesCode } = model
  const history = (turn.history ??= await readHistory(
    { ...deps.table, objects: deps.objects },
    turn.row,
    (turns) =>
      estimateTokens(buildEntries({ request, items: turn.items, history: turns, files: [], fencesCode }), budget.meter) >
      READ_AHEAD * budget.tokens,
  ))
  const workplace = await findWorkplace(deps, turn, history.turns)
  const entries = buildEntries({ request, items: turn.items, history: history.turns, files: workplace.files, fencesCode })
  if (isLast) entries.push(...explainEntries(entries, turn.consecutiveFailures))
  const files = nameableFiles(deps, turn, workplace)
  const extra: Entry[] = []

  for (let breaks = 0, isEmptyAgain = false; ;) {
    const answer = new AnswerStream({
      responseId: turn.row.id,
      firstIndex: turn.items.length,
      files,
      sources: sourcesOf(turn),
      containerId: workplace.containerId,
      isLast,
      maxCalls: request.parallelToolCalls ? Infinity : 1,
      kindOf: (name) => (isLast ? null : offered.kindOf(name)),
      emit: (fact, urgency) => turn.emit(fact, urgency),
    })
    const messages = assemble(await showPictures(deps, turn.row, budget.fit(turn, [...entries, ...extra], history.isWhole)))
    const failure = await listen(model, modelRequest(request, model, offered, messages, isLast), answer, turn, held)
    await answer.close({ isCut: failure !== null, wantsCode: !isLast && wantsFencedCode(offered, fencesCode) })
    const taken = takeAnswer(turn, answer)
    held.signal.throwIfAborted()
    if (failure !== null) {
      if (budget.shrink(failure.error)) continue
      breaks += 1
      if (failure.isBreak && failure.error.retryable && breaks <= MAX_RETRIES) continue
      turn.error = errorOf(failure)
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
    turn.consecutiveFailures += 1
    if (turn.consecutiveFailures >= LIMITS.maxConsecutiveFailures) return
  }
}

function errorOf({ error }: Failure): { readonly code: string; readonly message: string } {
  const code = error.tooLong !== null ? 'context_length_exceeded' : error.status === 429 ? 'rate_limit_exceeded' : 'model_error'
  return { code, message: error.message }
}

const sourcesOf = (turn: Turn): readonly Source[] =>
  turn.items.flatMap((item) => (item.type === 'web_search_call' || item.type === 'function_call' ? (item.sources ?? []) : []))

/** Code in the text counts as a call where the model knows no other way, and where the caller insists on code. */
const wantsFencedCode = (offered: OfferedTools, fencesCode: boolean): boolean =>
  offered.kindOf(PYTHON) === 'code' &&
  ((fencesCode && offered.choice !== 'none') ||
    offered.choice === 'required' ||
    (typeof offered.choice === 'object' && offered.choice.name === PYTHON))

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
