import { ServiceError } from '../../core/errors.ts'
import { LIMITS } from '../../core/limits.ts'
import type { OfferedModel } from '../../core/ports/model-catalogue.ts'
import type { Source } from '../../core/ports/tool.ts'
import { EXTENSION_EVENT, extensionData } from '../../core/responses/extension-event.ts'
import { renderContextCut } from '../../core/responses/render-response.ts'
import { hasExtensionEvents, type ContextCut } from '../../core/responses/response.ts'
import { AnswerStream } from '../answer/answer-stream.ts'
import { assemble } from '../conversation/assemble.ts'
import { buildEntries } from '../conversation/build-entries.ts'
import type { Entry } from '../conversation/entry.ts'
import type { History } from '../conversation/past-turn.ts'
import { readHistory } from '../conversation/read-history.ts'
import { EXPLAIN } from '../conversation/system-prompt.ts'
import { estimateTokens } from '../conversation/tokens.ts'
import type { TurnDeps } from '../deps.ts'
import { offerTools, type OfferedTools } from '../tools/offered-tools.ts'
import { PYTHON } from '../tools/python.ts'
import type { ContainerContext, ContainerReader } from './container-context.ts'
import { loadInputImages } from './input-images.ts'
import { linkableFiles } from './linkable-files.ts'
import { modelRequest } from './model-request.ts'
import { receiveAnswer, recordAnswer, type Failure, type Verdict } from './read-answer.ts'
import type { Turn } from './turn.ts'
import type { TurnChange, TurnState, TurnView } from './turn-state.ts'
import { WindowBudget } from './window-budget.ts'

/** An answer that breaks off is requested again this often. */
const MAX_RETRIES = 2
/** History is read until it is this many times what fits: results in it may shrink. */
const READ_AHEAD = 4
/** Calls beyond this many in one answer are ignored. */
const MAX_CALLS_PER_ANSWER = 128

/** What one step knows beyond the turn: how the attempts at the present answer went, and what it has read. */
export interface AskContext {
  readonly container: ContainerReader
  history: History | null
  /** Null when the next attempt is the first one. */
  attempts: Attempts | null
}

interface Attempts {
  readonly budget: WindowBudget
  /** Whether this is the first question of the turn: a forced `tool_choice` holds for it only. */
  readonly isFirst: boolean
  /** Calls of tools that do not exist, with their errors. */
  readonly unknownCalls: readonly Entry[]
  readonly breaks: number
  readonly hasBeenEmpty: boolean
}

export interface AskOptions {
  /** The model has to answer in words, without tools. */
  readonly isLast: boolean
  readonly signal: AbortSignal
  /** Records an event of an item while the answer arrives. */
  readonly emit: Turn['emit']
}

/**
 * Asks the model once and records its answer. When the answer is not usable but a retry may help, nothing else is recorded, so that the next action is
 * to ask again. An aborted answer is recorded as far as readers have it.
 */
export async function askModel(deps: TurnDeps, view: TurnView, context: AskContext, options: AskOptions): Promise<TurnChange> {
  const { row, state } = view
  const { request } = row
  const model = deps.models.find(request.model)
  if (model === null) {
    const message = `The model ${request.model} is no longer offered. GET /v1/models lists the models that are.`
    return { state: { error: { code: 'model_not_found', message } } }
  }
  const exhausted = await exhaustedBudget(deps, row.tenant)
  if (exhausted !== null) return { state: { error: { code: 'rate_limit_exceeded', message: exhausted } } }
  const isFirst = context.attempts?.isFirst ?? state.items.every((item) => item.type === 'message')
  const offered = offerTools(request, deps.tools ?? [], isFirst)
  const budget = context.attempts?.budget ?? new WindowBudget(model, request.maxOutputTokens, offered)
  const attempts = (context.attempts ??= { budget, isFirst, unknownCalls: [], breaks: 0, hasBeenEmpty: false })
  const question = await buildQuestion(deps, view, context, attempts, model, options)
  if (hasExtensionEvents(row)) emitContextCut(state.contextCut, question.cut, options.emit)

  const answer = createAnswer(deps, view, question.container, offered, options)
  const messages = assemble(await loadInputImages(deps, row, question.entries))
  const toModel = modelRequest(request, model, offered, messages, options.isLast)
  const { usage, droppedParameters, failure } = await receiveAnswer(model, toModel, answer, view, options.signal)
  await answer.close({ isCut: failure !== null, wantsCode: !options.isLast && wantsFencedCode(offered, model.fencesCode) })

  const { verdict, change } = recordAnswer(view, answer)
  const received = { ...change.state, usage, droppedParameters, contextCut: question.cut }
  const next = options.signal.aborted
    ? END
    : failure !== null
      ? afterFailure(attempts, failure)
      : afterAnswer(attempts, verdict, received.consecutiveFailures, unknownCallEntries(answer, offered), options.isLast)
  context.attempts = next.attempts
  return { ...change, state: { ...received, ...next.state } }
}

/** Why the tenant may call no model today; null when it may. */
async function exhaustedBudget({ budget }: TurnDeps, tenant: string): Promise<string | null> {
  try {
    await budget?.checkModel(tenant)
    return null
  } catch (error) {
    if (error instanceof ServiceError) return error.message
    throw error
  }
}

/** `attempts` null: the question is answered, or there is no retry. */
interface Next {
  readonly attempts: Attempts | null
  readonly state?: Partial<Omit<TurnState, 'items'>>
}
const END: Next = { attempts: null }

function afterFailure(attempts: Attempts, failure: Failure): Next {
  const { error, hasBegun } = failure
  if (attempts.budget.shrink(error)) return { attempts }
  const breaks = attempts.breaks + 1
  if (hasBegun && error.retryable && breaks <= MAX_RETRIES) return { attempts: { ...attempts, breaks } }
  const code = error.tooLong !== null ? 'context_length_exceeded' : error.status === 429 ? 'rate_limit_exceeded' : 'model_error'
  return { attempts: null, state: { error: { code, message: error.message } } }
}

function afterAnswer(attempts: Attempts, verdict: Verdict, failures: number, unknownCalls: readonly Entry[], isLast: boolean): Next {
  if (verdict === 'usable') return END
  if (verdict === 'empty' || isLast) {
    if (attempts.hasBeenEmpty || isLast) return { attempts: null, state: { incompleteReason: 'empty_answer' } }
    return { attempts: { ...attempts, hasBeenEmpty: true } }
  }
  const consecutiveFailures = failures + 1
  if (consecutiveFailures >= LIMITS.maxConsecutiveFailures) return { attempts: null, state: { consecutiveFailures } }
  return { attempts: { ...attempts, unknownCalls: [...attempts.unknownCalls, ...unknownCalls] }, state: { consecutiveFailures } }
}

interface Question {
  readonly entries: readonly Entry[]
  readonly cut: ContextCut | null
  readonly container: ContainerContext
}

/** The conversation as far as it fits into the model's window. */
async function buildQuestion(
  deps: TurnDeps,
  { row, state }: TurnView,
  context: AskContext,
  { budget, unknownCalls }: Attempts,
  { fencesCode }: OfferedModel,
  { isLast }: AskOptions,
): Promise<Question> {
  const { request } = row
  const { items } = state
  const history = (context.history ??= await readHistory(
    { ...deps.table, objects: deps.objects },
    row,
    (turns) =>
      estimateTokens(buildEntries({ request, items, history: turns, files: [], fencesCode }), budget.meter) > READ_AHEAD * budget.tokens,
  ))
  const container = await context.container.read(state.containerId, history.turns)
  const entries = buildEntries({ request, items, history: history.turns, files: container.files, fencesCode })
  const explained = isLast ? withExplanation(entries, state.consecutiveFailures) : entries
  return { container, ...budget.fit([...explained, ...unknownCalls], history.isWhole) }
}

function createAnswer(
  deps: TurnDeps,
  view: TurnView,
  container: ContainerContext,
  offered: OfferedTools,
  { isLast, emit }: AskOptions,
): AnswerStream {
  const { row, state } = view
  return new AnswerStream({
    responseId: row.id,
    firstIndex: state.items.length,
    files: linkableFiles(deps, view, container),
    sources: sourcesOf(state),
    containerId: container.containerId,
    isLast,
    maxCalls: row.request.parallelToolCalls ? MAX_CALLS_PER_ANSWER : 1,
    kindOf: (name) => (isLast ? null : offered.kindOf(name)),
    emit,
  })
}

const sourcesOf = ({ items }: TurnState): readonly Source[] =>
  items.flatMap((item) => (item.type === 'web_search_call' || item.type === 'function_call' ? (item.sources ?? []) : []))

/** Readers get each change of what the model did not read. */
function emitContextCut(before: ContextCut | null, cut: ContextCut | null, emit: AskOptions['emit']): void {
  if (cut === null || JSON.stringify(cut) === JSON.stringify(before)) return
  emit({ type: EXTENSION_EVENT, data: extensionData('context_cut', { context: renderContextCut(cut) }) }, 'soon')
}

/** Code in the text counts as a call where the model knows no other way, and where the caller insists on code. */
const wantsFencedCode = (offered: OfferedTools, fencesCode: boolean): boolean =>
  offered.kindOf(PYTHON) === 'code' &&
  ((fencesCode && offered.choice !== 'none') ||
    offered.choice === 'required' ||
    (typeof offered.choice === 'object' && offered.choice.name === PYTHON))

/** The remark is part of the last result: not every endpoint accepts a system message in the middle. */
function withExplanation(entries: readonly Entry[], failures: number): readonly Entry[] {
  const last = entries.at(-1)
  if (last?.kind !== 'result') return [...entries, { kind: 'user', content: EXPLAIN(failures) }]
  return [...entries.slice(0, -1), { ...last, text: `${last.text}\n\n${EXPLAIN(failures)}` }]
}

function unknownCallEntries(answer: AnswerStream, offered: OfferedTools): readonly Entry[] {
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
