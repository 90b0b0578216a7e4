import { ServiceError } from '../../model/errors.ts'
import type { OfferedModel } from '../../ports/model-catalogue.ts'
import type { Source } from '../../model/responses/source.ts'
import { EXTENSION_EVENT, extensionData } from '../../model/responses/extension-event.ts'
import { renderContextCut } from '../../model/responses/render-response.ts'
import { hasExtensionEvents, type ContextCut, type ResponseRequest } from '../../model/responses/response.ts'
import { AnswerStream, isJson } from './answer/answer-stream.ts'
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
import { enforceFormat } from './enforce-format.ts'
import { receiveAnswer, recordAnswer } from './read-answer.ts'
import type { Turn } from './turn.ts'
import type { TurnChange, TurnState, TurnView } from './turn-state.ts'
import { afterAnswer, afterCheck, afterFailure, END, OUT_OF_TIME, WindowBudget, type Attempts } from './attempts.ts'
import type { Entry } from '../../model/responses/items/entry.ts'
import { codeInterpreterCall, PYTHON } from '../../model/responses/items/code-interpreter-call.ts'
import { isCall, isServerCall, filesOf } from '../../model/responses/items/item-types.ts'
import { linkDaysOf } from '../../operations/links/create-link.ts'
import type { LinkableFile } from './answer/answer-text.ts'
import { linkFile } from './outcome/call-outcome.ts'
import type { ModelMessage, ModelRequest } from '../../ports/chat-model.ts'

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

export interface AskOptions {
  readonly context: AskContext
  /** The model must answer with text, without tools. */
  readonly isLast: boolean
  readonly signal: AbortSignal
  /** Aborts when the time for an answer is over; null in a process that runs on. */
  readonly cutOff: AbortSignal | null
  /** Records an event of an item while the answer arrives. */
  readonly emit: Turn['emit']
}

/**
 * Calls the model once and records its answer. If the answer is not usable and a retry may help, only the attempt is recorded, so the next action calls
 * the model again. The part of an aborted answer that readers received is recorded.
 */
export async function askModel(deps: TurnDeps, view: TurnView, options: AskOptions): Promise<TurnChange> {
  const { row, state } = view
  const { context, isLast, signal, cutOff } = options
  const { request } = row
  const model = deps.models.find(request.model)
  if (model === null) {
    const message = `The model ${request.model} is no longer offered. GET /v1/models lists the models that are.`
    return { state: { error: { code: 'model_not_found', message } } }
  }
  const exhausted = await exhaustedBudget(deps, row.tenant)
  if (exhausted !== null) return { state: { error: { code: 'rate_limit_exceeded', message: exhausted } } }
  const isFirst = context.attempts?.isFirst ?? !state.items.some(isCall)
  const offered = offerTools(request, deps.tools ?? [], isFirst)
  const budget = context.attempts?.budget ?? new WindowBudget(model, request.maxOutputTokens, offered)
  const attempts = (context.attempts ??= { budget, isFirst, corrections: [], repairs: 0, breaks: 0, hasBeenEmpty: false })
  const question = await buildQuestion(deps, view, { context, attempts, model, isLast })
  if (hasExtensionEvents(row)) emitContextCut(state.contextCut, question.cut, options.emit)

  const format = model.enforcesSchema ? null : outputFormatOf(request.echoed?.['text'])
  const answer = createAnswer(deps, view, { ...options, container: question.container, offered, holdsText: format !== null })
  const messages = assemble(await loadImages(deps, row, question.entries))
  const toModel = modelRequest(request, { model, offered, messages, isLast })
  const { usage, droppedParameters, failure } = await receiveAnswer(model.chat, view, {
    request: toModel,
    answer,
    signal: cutOff === null ? signal : AbortSignal.any([signal, cutOff]),
  })
  const wantsCode = !isLast && wantsFencedCode(offered, model.fencesCode)
  const checked =
    format === null || failure !== null ? null : await enforceFormat(format, answer, { repairs: attempts.repairs, isLast, wantsCode })
  await answer.close({ isCut: failure !== null, wantsCode })

  const { verdict, change } = recordAnswer(view, answer)
  const received = { ...change.state, usage, droppedParameters, contextCut: question.cut }
  const next = signal.aborted
    ? END
    : failure !== null
      ? cutOff?.aborted === true
        ? OUT_OF_TIME
        : afterFailure(attempts, failure)
      : checked !== null
        ? afterCheck(attempts, checked)
        : afterAnswer(attempts, received.consecutiveFailures, { verdict, isLast, rejected: rejectedCallEntries(answer, offered) })
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

interface QuestionInput extends Pick<AskOptions, 'context' | 'isLast'> {
  readonly attempts: Attempts
  readonly model: OfferedModel
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
  { context, attempts, model, isLast }: QuestionInput,
): Promise<Question> {
  const { budget, corrections } = attempts
  const { fencesCode, readsImages } = model
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
    storedPath: container.pathOf,
    skills: container.skills,
    network: container.network,
    fencesCode,
    readsImages,
  })
  const explained = isLast ? withExplanation(entries, state.consecutiveFailures) : entries
  const asked: readonly Entry[] = request.purpose === 'compaction' ? [...explained, { kind: 'user', content: SUMMARIZE }] : explained
  return { container, ...budget.fit([...asked, ...corrections], history.isWhole) }
}

interface AnswerInput extends AskOptions {
  readonly container: ContainerContext
  readonly offered: OfferedTools
  readonly holdsText: boolean
}

function createAnswer(deps: TurnDeps, view: TurnView, { container, offered, isLast, emit, holdsText }: AnswerInput): AnswerStream {
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

/** Calls that became no item, each with a result that tells the model why. */
function rejectedCallEntries(answer: AnswerStream, offered: OfferedTools): readonly Entry[] {
  const names = offered.tools.map((tool) => tool.name).join(', ') || 'none'
  return answer.rejectedCalls.flatMap(({ call, problem }): Entry[] => {
    const why =
      problem === null
        ? `There is no tool ${JSON.stringify(call.name)}. Tools that exist: ${names}.`
        : `The call cannot be used: ${problem}. Call the tool again.`
    return [
      { kind: 'call', call: { ...call, arguments: isJson(call.arguments) ? call.arguments : '{}' } },
      { kind: 'result', callId: call.id, text: `error: ${why}` },
    ]
  })
}

type FileLink = Awaited<ReturnType<LinkableFile['link']>>

/** The files that an answer may name: the current version of each path. Files of this turn have links already; others get one when it is needed. */
function linkableFiles(deps: TurnDeps, { row, state }: TurnView, { containerId, stored }: ContainerContext): readonly LinkableFile[] {
  const links = new Map<string, FileLink>()
  for (const item of state.items)
    for (const { id, url, linkId } of filesOf(item)) links.set(id, { url, ...(linkId === undefined ? {} : { id: linkId }) })
  let days: Promise<number> | null = null
  return stored.map((file) => {
    let created: Promise<FileLink> | null = null
    const create = async (): Promise<FileLink> =>
      linkFile(deps, file, { publicUrl: row.publicUrl, days: await (days ??= linkDaysOf(deps.table.tenants, row.tenant)) })
    return {
      fileId: file.id,
      containerId,
      path: file.path,
      isFresh: links.has(file.id),
      link: () => {
        const known = links.get(file.id)
        return (created ??= known === undefined ? create() : Promise.resolve(known))
      },
    }
  })
}

type Wire = Readonly<Record<string, unknown>>

interface ModelRequestInput extends Pick<AskOptions, 'isLast'> {
  readonly model: OfferedModel
  readonly offered: OfferedTools
  readonly messages: readonly ModelMessage[]
}

function modelRequest(request: ResponseRequest, { model, offered, messages, isLast }: ModelRequestInput): ModelRequest {
  const text = objectOf(request.echoed?.['text'])
  return {
    model: model.upstreamName,
    messages,
    tools: offered.tools,
    toolChoice: isLast ? 'none' : offered.choice,
    temperature: request.temperature,
    topP: request.topP,
    maxOutputTokens: request.maxOutputTokens,
    parallelToolCalls: request.parallelToolCalls,
    responseFormat: responseFormat(objectOf(text['format'])),
    reasoningEffort: stringOf(objectOf(request.echoed?.['reasoning'])['effort']),
    verbosity: stringOf(text['verbosity']),
    // A summary is written from the calls as text, because some endpoints reject calls in a request without tools.
    fencesCode: model.fencesCode || request.purpose === 'compaction',
  }
}

/** `text.format` as Chat Completions has it. Plain text is the default of every model. */
function responseFormat(format: Wire): Wire | null {
  if (format['type'] === 'json_object') return { type: 'json_object' }
  if (format['type'] !== 'json_schema') return null
  const { type: _type, ...schema } = format
  return { type: 'json_schema', json_schema: schema }
}

const objectOf = (value: unknown): Wire => (typeof value === 'object' && value !== null ? (value as Wire) : {})
const stringOf = (value: unknown): string | null => (typeof value === 'string' ? value : null)
