import type { EventPayload } from '../../events.ts'
import { outputItemId } from '../item-ids.ts'
import { applyPatchCall } from './apply-patch-call.ts'
import { codeInterpreterCall, type CodeItem } from './code-interpreter-call.ts'
import type { Entry } from './entry.ts'
import { functionCall } from './function-call.ts'
import type { CallPlace, CallType, ItemType, NewCall, PrintedText, RenderOptions, ServerCallType, Wire } from './item-type.ts'
import { message } from './message.ts'
import { reasoning } from './reasoning.ts'
import { shellCallOutput } from './shell-call-output.ts'
import { shellCall } from './shell-call.ts'
import { webSearchCall } from './web-search-call.ts'

/** Every type of item that a response can produce. A new type is one file in this folder and one entry here. */
export const ITEM_TYPES = [
  message,
  reasoning,
  codeInterpreterCall,
  functionCall,
  webSearchCall,
  shellCall,
  shellCallOutput,
  applyPatchCall,
] as const

/** An item that a response has produced; `type` says which one. */
export type ResponseItem = ReturnType<(typeof ITEM_TYPES)[number]['parse']>
/** A call of a tool. */
export type CallItem = CodeItem | Extract<ResponseItem, { readonly arguments: string }>
/** A call that a tool of this server answers. */
export type ServerCallItem = Extract<ResponseItem, { readonly output: string | null }>

/** What a call of the model becomes, and where it is answered. */
export interface CallKind {
  readonly type: CallType<CallItem>
  readonly place: CallPlace
}

const BY_TYPE: ReadonlyMap<unknown, ItemType<ResponseItem>> = new Map(ITEM_TYPES.map((type) => [type.type, type]))
const CALLS: readonly CallType<CallItem>[] = ITEM_TYPES.filter((type) => 'begin' in type)
const SERVER_CALLS: readonly ServerCallType<ServerCallItem>[] = ITEM_TYPES.filter((type) => 'answer' in type)

function typeOf(item: ResponseItem): ItemType<ResponseItem> {
  const type = BY_TYPE.get(item.type)
  if (type === undefined) throw new Error(`There is no item type ${item.type}`)
  return type
}

/** The type of an item on the wire; null for a type that responses do not produce. */
export const itemTypeNamed = (type: unknown): ItemType<ResponseItem> | null => BY_TYPE.get(type) ?? null

/** What a call of an offered tool becomes, by the tool's name. */
export const callKindOf = (toolName: string, place: CallPlace): CallKind => ({
  type: CALLS.find((one) => one.toolName === toolName) ?? functionCall,
  place,
})
export const CALLERS_FUNCTION: CallKind = { type: functionCall, place: 'caller' }

/** Whether the model called a tool with it. */
export const isCall = (item: ResponseItem): boolean => CALLS.some(({ type }) => type === item.type)

/** A call that the model begins to write. `index` is the `output_index` that the item gets. */
export const beginCall = (
  { type, place }: CallKind,
  { responseId, index }: { readonly responseId: string; readonly index: number },
  call: Omit<NewCall, 'id'>,
): CallItem =>
  type.begin({
    ...call,
    id: outputItemId(type.idKind, responseId, index),
    containerId: place === 'container' ? call.containerId : null,
  })

export function closeCall(item: CallItem, args: string, isWhole: boolean): CallItem {
  const type = CALLS.find((one) => one.type === item.type)
  if (type === undefined) throw new Error(`${item.type} is no type of calls`)
  return type.close(item, args, isWhole)
}

export const isServerCall = (item: ResponseItem | undefined): item is ServerCallItem => item !== undefined && 'output' in item

export function serverCallTypeOf(item: ServerCallItem): ServerCallType<ServerCallItem> {
  const type = SERVER_CALLS.find((one) => one.type === item.type)
  if (type === undefined) throw new Error(`No tool of this server answers a ${item.type}`)
  return type
}

/** Names of tools of this server whose calls have a separate item type; such a tool has the same name and type. */
export const OWN_ITEM_TOOLS: readonly string[] = SERVER_CALLS.flatMap(({ toolName }) => (toolName === null ? [] : [toolName]))

/** One output item as the wire has it. */
export const renderItem = (item: ResponseItem, options: RenderOptions): Record<string, unknown> => typeOf(item).render(item, options)
/** Parses what `renderItem` wrote; null for an item of another type. */
export const parseItem = (wire: Wire): ResponseItem | null => BY_TYPE.get(wire['type'])?.parse(wire) ?? null

export const itemStarted = (index: number, item: ResponseItem): EventPayload[] => typeOf(item).started(index, item)
/** Null when the wire has no event for pieces of this item. */
export const itemDelta = (index: number, item: ResponseItem, delta: string): EventPayload | null =>
  typeOf(item).delta?.(index, item, delta) ?? null
export const extendItem = (item: ResponseItem, delta: string): ResponseItem => typeOf(item).extend?.(item, delta) ?? item
export const itemWritten = (index: number, item: ResponseItem): EventPayload[] => typeOf(item).written(index, item)
export const itemReplayed = (index: number, item: ResponseItem): readonly EventPayload[] => typeOf(item).replayed(index, item)
export const itemDone = (index: number, item: ResponseItem, options: RenderOptions): EventPayload => ({
  type: 'response.output_item.done',
  data: { output_index: index, item: renderItem(item, options) },
})

/**
 * The items of a response in the model's context. Links are converted back to the paths that the model wrote. An item that a crash or a broken
 * stream cut off is omitted, unless it is the last text of the response.
 */
export const itemEntries = (items: readonly ResponseItem[], hasEnded: boolean, pathOf: (fileId: string) => string | null): Entry[] =>
  items.flatMap((item, index) => typeOf(item).entries(item, { isEnd: hasEnded && index === items.length - 1, pathOf }))

/** Whether a tool of this server has to answer this call and has not done so. */
export const isOpenCall = (item: ResponseItem, request: { readonly tools: readonly Wire[] }): boolean =>
  typeOf(item).isOpen?.(item, request.tools) ?? false
/** Whether jobs in the container have to answer the call at `index`, and its first one is not pending. */
export function awaitsJobs(items: readonly ResponseItem[], index: number): boolean {
  const item = items[index]
  return item !== undefined && (typeOf(item).awaitsJobs?.(item, items.slice(index + 1)) ?? false)
}
/** The event of text that a job of this item prints. */
export function itemPrinted(index: number, item: ResponseItem, text: PrintedText): EventPayload {
  const event = typeOf(item).printed?.(index, item, text)
  if (event === undefined) throw new Error(`Nothing runs for a ${item.type}`)
  return event
}
/** Whether a step continues this item after a crash of its predecessor, instead of ending it as `incomplete`. */
export const isContinued = (item: ResponseItem): boolean => typeOf(item).isContinued ?? false
/** Whether the caller has to answer this call. */
export const awaitsCaller = (item: ResponseItem): boolean => typeOf(item).awaitsCaller?.(item) ?? false
/** Files that the code of this item made. */
export const filesOf = (item: ResponseItem) => typeOf(item).files?.(item) ?? []
