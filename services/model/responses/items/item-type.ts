import * as z from 'zod'
import type { EventPayload } from '../../events.ts'
import type { Source } from '../source.ts'
import type { IdKind } from '../../ids.ts'
import type { LinkedFile } from '../linked-file.ts'
import type { Entry } from './entry.ts'

export type Wire = Readonly<Record<string, unknown>>

/** `include` has the wire's names of optional parts, for example `code_interpreter_call.outputs`. */
export interface RenderOptions {
  readonly include: readonly string[]
}
export const NO_OPTIONS: RenderOptions = { include: [] }

interface Item {
  readonly type: string
  readonly id: string
  readonly status: string
}
/** An item that may belong to a call. */
type CalledItem = Item & { readonly callId?: string }

/** Text that a job in the container prints. `jobIndex`: which of the call's jobs. */
export interface PrintedText {
  readonly jobIndex: number
  readonly stream: 'stdout' | 'stderr'
  readonly text: string
}

/** How the model's context gets an item. `isEnd`: the last item of a response that has ended. `pathOf`: the path of a file of the container. */
export interface EntryContext {
  readonly isEnd: boolean
  readonly pathOf: (fileId: string) => string | null
}

/**
 * Everything that one type of output items needs: its forms on the wire and in the model's context, and its events. `item-types.ts` lists all types;
 * other modules call them without naming one. `index` is an item's `output_index`.
 */
export interface ItemType<I extends Item> {
  readonly type: I['type']
  /** The value of `include` that adds an optional part of this item, with its description. */
  readonly include?: { readonly name: string; readonly description: string }
  /** Types of events that a step must not repeat after a crash. */
  readonly progressEvents?: readonly string[]
  /** The schemas of the item's fields on the wire beside `id`, `type` and `status`, for the OpenAPI document. */
  readonly wireFields: () => z.ZodRawShape
  /** The item as OpenAI's wire has it. */
  render(item: I, options: RenderOptions): Record<string, unknown>
  /** Parses what `render` wrote. */
  parse(wire: Wire): I
  /** The events when the item appears, in the wire's order. */
  started(index: number, item: I): EventPayload[]
  /** The event of a piece of the text that the model writes. Absent for a type whose text has no event on the wire. */
  delta?(index: number, item: I, delta: string): EventPayload
  /** The item with a further piece of its text. */
  extend?(item: I, delta: string): I
  /** The events when the model has written the item, before anything runs. */
  written(index: number, item: I): EventPayload[]
  /** The events between the first and the last one, of an item that has ended. */
  replayed(index: number, item: I): readonly EventPayload[]
  /** The item in the model's context. */
  entries(item: I, context: EntryContext): Entry[]
  /** The same for an item that a client sends; its fields may have any value. */
  inputEntries?(wire: Wire): Entry[]
  /** Whether a tool of this server has to answer the call and has not done so. `tools`: those of the request. */
  isOpen?(item: I, tools: readonly Wire[]): boolean
  /** Whether jobs in the container have to answer the call, and its first one is not pending. `later`: the items after it. */
  awaitsJobs?(item: I, later: readonly CalledItem[]): boolean
  /** The event of text that a job prints while it runs. */
  printed?(index: number, item: I, text: PrintedText): EventPayload
  /** A step that takes over after a crash continues an item which its predecessor has begun, instead of ending it as `incomplete`. */
  readonly isContinued?: true
  /** Whether the turn ends here, because the caller has to answer. */
  awaitsCaller?(item: I): boolean
  /** Files that code made, with their links. */
  files?(item: I): readonly LinkedFile[]
  /** The container that a client's item names. */
  containerOf?(wire: Wire): unknown
}

export interface NewCall {
  readonly id: string
  readonly callId: string
  /** The tool that the model called. */
  readonly name: string
  /** Null: the call does not run in a container. */
  readonly containerId: string | null
}

/** Where a call of the model is answered: by jobs in the container, by a tool of this server, or by the caller with its next request. */
export type CallPlace = 'container' | 'server' | 'caller'

/** A type of items that the model's calls of tools become. */
export interface CallType<I extends Item> extends ItemType<I> {
  readonly idKind: IdKind
  /** The tool whose calls have this type; null for every tool without a separate type. */
  readonly toolName: string | null
  /**
   * What is wrong with the whole arguments of a call, as the end of a sentence for the model; null when they can be used. With this function an item
   * appears when its call is whole, and a call that cannot be used never becomes an item.
   */
  problemOf?(args: string): string | null
  begin(call: NewCall): I
  /** The whole call. `isWhole` false: the model's answer was cut off. */
  close(item: I, args: string, isWhole: boolean): I
}

export interface ToolAnswer {
  /** What the model reads. */
  readonly output: string
  readonly isError: boolean
  readonly sources?: readonly Source[]
}

/** A type of calls that a tool of this server answers within the turn. */
export interface ServerCallType<I extends Item> extends CallType<I> {
  /** The events before the tool works, and after it answered. */
  working(index: number, item: I): readonly EventPayload[]
  answered(index: number, item: I): readonly EventPayload[]
  answer(item: I, answer: ToolAnswer): I
}

/** Files with their links, in `x_cellblock` of an item on the wire. */
export const filesSchema = () =>
  z.array(z.looseObject({ id: z.string(), path: z.string(), bytes: z.int(), mime: z.string(), url: z.string().nullable() }))

export const itemAdded = (index: number, item: Wire): EventPayload => ({
  type: 'response.output_item.added',
  data: { output_index: index, item },
})

/** An item and its index in the output of a response. */
interface ItemAt {
  readonly index: number
  readonly item: Pick<Item, 'id'>
}

export const itemEvent = (type: string, { index, item }: ItemAt, fields: Wire = {}): EventPayload => ({
  type,
  data: { output_index: index, item_id: item.id, ...fields },
})

/** The fields of arguments that the model wrote; none if they are no JSON object. */
export function argumentsOf(text: string): Wire {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? (value as Wire) : {}
  } catch {
    return {}
  }
}

export const textOf = (value: unknown): string => (typeof value === 'string' ? value : '')
/** Clients may send any value; a value that is not an object is ignored. */
export const objectsIn = (value: unknown): Wire[] =>
  Array.isArray(value) ? (value as unknown[]).filter((one): one is Wire => typeof one === 'object' && one !== null) : []

/** The answer of a server's tool is part of the item in the log, so that a tool whose answer readers have is not called again. */
export function answerOf(wire: Wire): { readonly output: string | null; readonly sources: readonly Source[] } {
  const extra = (wire['x_cellblock'] ?? {}) as Wire
  return {
    output: typeof extra['output'] === 'string' ? extra['output'] : null,
    sources: (extra['sources'] ?? []) as readonly Source[],
  }
}
