import * as z from 'zod'
import { boundedList, openObject } from '../../model/bounded-schemas.ts'
import { lazySchema } from '../../model/lazy-schema.ts'
import { LIMITS } from '../../model/limits.ts'
import { operateBy } from '../../operations/files/sandbox-files.ts'
import { shownPath } from '../../operations/files/sandbox-path.ts'
import { osText } from '../../http/execution-scope.ts'
import { readJsonMessage } from '../../http/read-json.ts'
import { json } from '../../http/responses.ts'
import type { AnyRoute, Call } from '../../http/route.ts'
import { count, flag, terminalRoute } from './routing.ts'
import { SEARCH_PROGRAM } from './search-program.ts'
import { useTerminal } from './terminal.ts'

export const PROGRAM = ['/usr/bin/python3', '-I', '-S', '-c', SEARCH_PROGRAM] as const
const MAX_RESULTS = 500
const MAX_PATTERNS = 50

const path = () => osText(LIMITS.maxPathBytes)
const pattern = () => osText(1_000)
/** A list of a query; one entry may come as text. */
const patterns = () => z.union([boundedList(pattern(), { max: MAX_PATTERNS }), pattern().transform((one) => [one])]).default([])
const folder = () => path().default('.')
const limit = (max: number, preset: number) => count(1, max).default(preset)
const type = () => z.enum(['file', 'directory', 'any']).default('any')

const Grep = lazySchema(() =>
  z.object({
    query: pattern(),
    path: folder(),
    regex: flag().default(true),
    case_insensitive: flag().default(false),
    include: patterns(),
    match_per_line: flag().default(true),
    max_results: limit(MAX_RESULTS, 50),
  }),
)
const Glob = lazySchema(() =>
  z.object({ pattern: pattern(), path: folder(), exclude: patterns(), type: type(), max_results: limit(MAX_RESULTS, 50) }),
)
const Search = lazySchema(() =>
  z.object({ query: pattern().default(''), path: folder(), type: type(), limit: limit(100, 20), show_hidden: flag().default(false) }),
)
const Matches = lazySchema(() =>
  z.object({
    query: pattern().regex(/\S/, 'give text'),
    path: folder(),
    show_hidden: flag().default(false),
    offset: count(0).default(0),
    limit: limit(100, 100),
  }),
)

// Sandboxes are hostile: every field of an answer is checked.
const text = () => z.string().max(8 * LIMITS.maxPathBytes)
const number = () => z.number()
const kind = () => z.enum(['file', 'directory'])
const Entry = lazySchema(() => z.object({ path: text(), type: kind(), size: number(), modified: number() }))
const Lines = lazySchema(() =>
  z.object({
    matches: boundedList(z.object({ file: text(), line: number().optional(), content: text().optional() }), { max: MAX_RESULTS }),
    truncated: z.boolean(),
  }),
)
const Names = lazySchema(() => z.object({ matches: boundedList(Entry(), { max: MAX_RESULTS }), truncated: z.boolean() }))
const Ranked = lazySchema(() => z.object({ results: boundedList(Entry().extend({ name: text() }), { max: 100 }) }))
const Content = lazySchema(() =>
  z.object({
    results: boundedList(
      z.object({
        path: text(),
        relative_path: text(),
        name: text(),
        type: kind(),
        name_match: z.boolean(),
        content_matches: boundedList(z.object({ line: number(), column: number(), text: text() }), { max: 3 }),
      }),
      { max: 100 },
    ),
    next_offset: number().nullable(),
  }),
)

interface Place {
  /** The path as clients name it. */
  readonly shown: string
}

/** Runs an operation of the program on the path of the request. */
async function perform<Schema extends z.ZodType>(
  call: Call,
  request: { readonly op: string; readonly path: string } & Readonly<Record<string, unknown>>,
  schema: Schema,
): Promise<{ readonly answer: z.infer<Schema>; readonly place: Place }> {
  const { container, context, pathOf } = await useTerminal(call, 'files')
  const { real, shown } = pathOf(request.path)
  const answer = await operateBy(context, container.id, { program: PROGRAM, request: { ...request, path: real }, schema })
  return { answer, place: { shown } }
}

async function grep(call: Call<z.infer<ReturnType<typeof Grep>>>): Promise<Response> {
  const { answer, place } = await perform(call, { op: 'grep', ...call.query }, Lines())
  const matches = answer.matches.map((match) => ({ ...match, file: shownPath(match.file) }))
  return json(200, { query: call.query.query, path: place.shown, matches, truncated: answer.truncated })
}

async function glob(call: Call<z.infer<ReturnType<typeof Glob>>>): Promise<Response> {
  const { answer, place } = await perform(call, { op: 'glob', ...call.query }, Names())
  return json(200, { pattern: call.query.pattern, path: place.shown, ...answer })
}

async function search(call: Call<z.infer<ReturnType<typeof Search>>>): Promise<Response> {
  const { limit: max_results, ...query } = call.query
  const { answer } = await perform(call, { op: 'search', ...query, max_results }, Ranked())
  return json(200, { results: answer.results.map((entry) => ({ ...entry, path: shownPath(entry.path) })) })
}

async function matches(call: Call<z.infer<ReturnType<typeof Matches>>>): Promise<Response> {
  const { limit: max_results, ...query } = call.query
  const { answer } = await perform(call, { op: 'matches', ...query, max_results }, Content())
  const results = answer.results.map((entry) => ({ ...entry, path: shownPath(entry.path) }))
  return json(200, { results, next_offset: answer.next_offset })
}

const Replace = lazySchema(() =>
  openObject({
    path: path().min(1),
    replacements: boundedList(
      openObject({
        target: z.string().min(1),
        replacement: z.string(),
        start_line: z.int().min(1).nullish(),
        end_line: z.int().min(1).nullish(),
        allow_multiple: z.boolean().nullish(),
      }),
      { min: 1, max: 100 },
    ),
  }),
)

async function replace(call: Call): Promise<Response> {
  const body = await readJsonMessage(call.request, Replace())
  const request = { op: 'replace', path: body.path, replacements: body.replacements }
  const { answer, place } = await perform(call, request, z.object({ size: number() }))
  return json(200, { path: place.shown, size: answer.size })
}

const get = { scope: 'files', method: 'get' } as const

export const searchRoutes: readonly AnyRoute[] = [
  terminalRoute({ ...get, path: '/files/grep', query: Grep, handle: grep }),
  terminalRoute({ ...get, path: '/files/glob', query: Glob, handle: glob }),
  terminalRoute({ ...get, path: '/files/search', query: Search, handle: search }),
  terminalRoute({ ...get, path: '/files/matches', query: Matches, handle: matches }),
  terminalRoute({ method: 'post', scope: 'files', path: '/files/replace', ownBody: Replace, handle: replace }),
]
