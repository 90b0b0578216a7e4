import { ServiceError } from '../../model/errors.ts'
import { LIMITS } from '../../model/limits.ts'
import type { OfferedModel } from '../../ports/model-catalogue.ts'
import type { Source } from '../../model/responses/source.ts'
import { EXTENSION_EVENT, extensionData } from '../../model/responses/extension-event.ts'
import { renderContextCut } from '../../model/responses/render-response.ts'
import { hasExtensionEvents, type ContextCut } from '../../model/responses/response.ts'
import { AnswerStream } from './answer/answer-stream.ts'
import { assemble } from './conversation/assemble.ts'
import { buildEntries } from './conversation/build-entries.ts'
import type { History } from './conversation/past-turn.ts'
import { readHistory } from './conversation/read-history.ts'
import { EXPLAIN, SUMMARIZE } from './conversation/system-prompt.ts'
import { estimateTokens } from './conversation/tokens.ts'
import type { TurnDeps } from './deps.ts'
import { offerTools, type OfferedTools } from './tools/offered-tools.ts'
import type { ContainerContext, ContainerReader } from './container-context.ts'
import { loadImages } from './input-images.ts'
import { outputFormatOf } from './format/output-format.ts'
import { enforceFormat, type EnforcedFormat } from './enforce-format.ts'
import { linkableFiles } from './linkable-files.ts'
import { modelRequest } from './model-request.ts'
import { receiveAnswer, recordAnswer, type Failure, type Verdict } from './read-answer.ts'
import { rejectedCallEntries } from './rejected-calls.ts'
import type { Turn } from './turn.ts'
import type { TurnChange, TurnState, TurnView } from './turn-state.ts'
import { WindowBudget } from './window-budget.ts'
import type { Entry } from '../../model/responses/items/entry.ts'
import { codeInterpreterCall, PYTHON } from '../../model/responses/items/code-interpreter-call.ts'
import { isServerCall } from '../../model/responses/items/item-types.ts'

/** Number of retries of an incomplete answer. */
const MAX_RETRIES = 2
/** History is read up to this multiple of the window, because truncation of results may make more of it fit. */
const READ_AHEAD = 4
/** Calls beyond this many in one answer are ignored. */
const MAX_CALLS_PER_ANSWER = 128

/** State of one step besides the turn: failed attempts at the present answer, and data that was read. */
export interface AskContext {
  readonly container: ContainerReader
  history: History | null
  /** Null when the next attempt is the first one. */
  attempts: Attempts | null
}

interface Attempts {
  readonly budget: WindowBudget
  /** Whether this is the first model call of the turn; a forced `tool_choice` applies to it only. */
  readonly isFirst: boolean
  /** What tells the model why earlier attempts were not usable. */
  readonly corrections: readonly Entry[]
  /** Corrections of the answer's format. */
  readonly repairs: number
  readonly breaks: number
  readonly hasBeenEmpty: boolean
}

export interface AskOptions {
  /** The model must answer with text, without tools. */
  readonly isLast: boolean
  readonly signal: AbortSignal
  /** Records an event of an item while the answer arrives. */
  readonly emit: Turn['emit']
}

/**
 * Calls the model once and records its answer. If the answer is not usable and a retry may help, only the attempt is recorded, so the next action calls
 * the model again. Of an aborted answer, the part that readers have received is recorded.
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
  const attempts = (context.attempts ??= { budget, isFirst, corrections: [], repairs: 0, breaks: 0, hasBeenEmpty: false })
  const question = await buildQuestion(deps, view, context, attempts, model, options)
  if (hasExtensionEvents(row)) emitContextCut(state.contextCut, question.cut, options.emit)

  const format = model.enforcesSchema ? null : outputFormatOf(request.echoed?.['text'])
  const answer = createAnswer(deps, view, question.container, offered, { ...options, holdsText: format !== null })
  const messages = assemble(await loadImages(deps, row, question.entries))
  const toModel = modelRequest(request, model, offered, messages, options.isLast)
  const { usage, droppedParameters, failure } = await receiveAnswer(model, toModel, answer, view, options.signal)
  const wantsCode = !options.isLast && wantsFencedCode(offered, model.fencesCode)
  const checked =
    format === null || failure !== null
      ? null
      : await enforceFormat(format, answer, { repairs: attempts.repairs, isLast: options.isLast, wantsCode })
  await answer.close({ isCut: failure !== null, wantsCode })

  const { verdict, change } = recordAnswer(view, answer)
  const received = { ...change.state, usage, droppedParameters, contextCut: question.cut }
  const next = options.signal.aborted
    ? END
    : failure !== null
      ? afterFailure(attempts, failure)
      : checked !== null
        ? afterCheck(attempts, checked)
        : afterAnswer(attempts, verdict, received.consecutiveFailures, rejectedCallEntries(answer, offered), options.isLast)
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

/** `attempts` null: the call is answered, or there is no retry. */
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

function afterCheck(attempts: Attempts, checked: NonNullable<EnforcedFormat>): Next {
  if ('error' in checked) return { attempts: null, state: { error: { code: 'invalid_prompt', message: checked.error } } }
  return { attempts: { ...attempts, repairs: attempts.repairs + 1, corrections: [...attempts.corrections, ...checked.corrections] } }
}

function afterAnswer(attempts: Attempts, verdict: Verdict, failures: number, rejected: readonly Entry[], isLast: boolean): Next {
  if (verdict === 'usable') return END
  if (verdict === 'empty' || isLast) {
    if (attempts.hasBeenEmpty || isLast) return { attempts: null, state: { incompleteReason: 'empty_answer' } }
    return { attempts: { ...attempts, hasBeenEmpty: true } }
  }
  const consecutiveFailures = failures + 1
  if (consecutiveFailures >= LIMITS.maxConsecutiveFailures) return { attempts: null, state: { consecutiveFailures } }
  return { attempts: { ...attempts, corrections: [...attempts.corrections, ...rejected] }, state: { consecutiveFailures } }
}

interface Question {
  readonly entries: readonly Entry[]
  readonly cut: ContextCut | null
  readonly container: ContainerContext
}

/** The part of the conversation that fits into the model's window. */
async function buildQuestion(
  deps: TurnDeps,
  { row, state }: TurnView,
  context: AskContext,
  { budget, corrections }: Attempts,
  { fencesCode, readsImages }: OfferedModel,
  { isLast }: AskOptions,
): Promise<Question> {
  const { request } = row
  const { items } = state
  const history = (context.history ??= await readHistory(
    { ...deps.table, objects: deps.objects },
    row,
    (turns) =>
      estimateTokens(buildEntries({ request, items, history: turns, files: [], fencesCode, readsImages }), budget.meter) >
      READ_AHEAD * budget.tokens,
  ))
  const container = await context.container.read(state.containerId, history.turns)
  const entries = buildEntries({
    request,
    items,
    history: history.turns,
    files: container.files,
    skills: container.skills,
    fencesCode,
    readsImages,
  })
  const explained = isLast ? withExplanation(entries, state.consecutiveFailures) : entries
  const asked: readonly Entry[] = request.purpose === 'compaction' ? [...explained, { kind: 'user', content: SUMMARIZE }] : explained
  return { container, ...budget.fit([...asked, ...corrections], history.isWhole) }
}

function createAnswer(
  deps: TurnDeps,
  view: TurnView,
  container: ContainerContext,
  offered: OfferedTools,
  { isLast, emit, holdsText }: AskOptions & { readonly holdsText: boolean },
): AnswerStream {
  const { row, state } = view
  return new AnswerStream({
    responseId: row.id,
    firstIndex: state.items.length,
    files: linkableFiles(deps, view, container),
    sources: sourcesOf(state),
    containerId: container.containerId,
    isLast,
    holdsText,
    maxCalls: row.request.parallelToolCalls ? MAX_CALLS_PER_ANSWER : 1,
    kindOf: (name) => (isLast ? null : offered.kindOf(name)),
    emit,
  })
}

const sourcesOf = ({ items }: TurnState): readonly Source[] => items.flatMap((item) => (isServerCall(item) ? (item.sources ?? []) : []))

/** Readers receive each change of the omitted parts. */
function emitContextCut(before: ContextCut | null, cut: ContextCut | null, emit: AskOptions['emit']): void {
  if (cut === null || JSON.stringify(cut) === JSON.stringify(before)) return
  emit({ type: EXTENSION_EVENT, data: extensionData('context_cut', { context: renderContextCut(cut) }) }, 'soon')
}

/** Code in the text counts as a call if the model cannot call tools, or if the client requires code. */
const wantsFencedCode = (offered: OfferedTools, fencesCode: boolean): boolean =>
  offered.kindOf(PYTHON)?.type === codeInterpreterCall &&
  ((fencesCode && offered.choice !== 'none') ||
    offered.choice === 'required' ||
    (typeof offered.choice === 'object' && offered.choice.name === PYTHON))

/** The note is part of the last result, because not every endpoint accepts a system message in the middle. */
function withExplanation(entries: readonly Entry[], failures: number): readonly Entry[] {
  const last = entries.at(-1)
  if (last?.kind !== 'result') return [...entries, { kind: 'user', content: EXPLAIN(failures) }]
  return [...entries.slice(0, -1), { ...last, text: `${last.text}\n\n${EXPLAIN(failures)}` }]
}
