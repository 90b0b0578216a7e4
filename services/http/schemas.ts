import { extendZodWithOpenApi } from '@asteasolutions/zod-to-openapi'
import * as z from 'zod'
import { boundedRecord } from '../model/bounded-schemas.ts'
import { answerSchema, lazySchema, type Described } from '../model/lazy-schema.ts'
import { ERRORS } from '../model/errors.ts'

// Gives schemas the method `openapi`. The library needs this class only; the whole of zod would add 110 KB to each function.
extendZodWithOpenApi({ ZodType: z.ZodType } as typeof z)

export const ErrorBody = lazySchema(() =>
  z
    .object({
      error: z.object({
        message: z.string().openapi({ description: 'What happened, why, and what to do.' }),
        type: z.string().openapi({ example: 'invalid_request_error' }),
        code: z.enum(Object.keys(ERRORS) as [keyof typeof ERRORS, ...(keyof typeof ERRORS)[]]).nullable(),
        param: z.string().nullable().openapi({ description: 'The field that caused the error.' }),
      }),
      request_id: z.string().openapi({ description: 'Also in the header `x-request-id`.' }),
    })
    .openapi('Error'),
)

/** For `refine`: text that UTF-8 can hold. */
export const wholeCharacters = [
  (text: string): boolean => text.isWellFormed(),
  'give whole Unicode characters, not half of a surrogate pair',
] as const

/** OpenAI's bounds: at most 16 entries, names up to 64 characters, values up to 512. */
export const Metadata = lazySchema(() => boundedRecord(z.string().max(64), z.string().max(512), 16))

/** A checksum in hexadecimal form. */
export const hexDigits = (count: number) => z.string().regex(new RegExp(`^[0-9a-fA-F]{${count}}$`), `give ${count} hex digits`)

/** Page numbers are strings in a query. */
const integer = (min: number, max: number) =>
  z
    .string()
    .regex(/^-?\d{1,12}$/, 'give a whole number')
    .transform(Number)
    .refine((value) => value >= min && value <= max, `give a number from ${min} to ${max}`)

/** A whole number in a query, with its bounds in the document. */
export const queryInteger = (min: number, max: number, description: string) =>
  integer(min, max).openapi({ type: 'integer', minimum: min, maximum: max, description })

export const ListQuery = lazySchema(() =>
  z.object({
    after: z.string().max(200).optional().openapi({ description: 'Id of the last object of the page before.' }),
    limit: queryInteger(1, 100, 'Objects on a page, 20 by default.').optional(),
    order: z.enum(['asc', 'desc']).optional().openapi({ description: 'Order by time of creation; `desc` by default.' }),
  }),
)
export type ListQuery = Described<typeof ListQuery>
/** For native routes, which refuse a parameter that they do not know. OpenAI's routes ignore it, because later SDKs send more. */
export const StrictListQuery = lazySchema(() => ListQuery().strict())

/** Maximum size of a page, whatever `limit` the request has. */
export const MAX_PAGE = 1_000
export const DEFAULT_PAGE = 20

export const pageOf = (query: ListQuery): { readonly after: string | null; readonly limit: number; readonly order: 'asc' | 'desc' } => ({
  after: query.after ?? null,
  limit: query.limit ?? DEFAULT_PAGE,
  order: query.order ?? 'desc',
})

/** OpenAI's list envelope. */
export const listOf = <Item extends { readonly id?: unknown }>(
  data: readonly Item[],
  hasMore: boolean,
): Readonly<Record<string, unknown>> => ({
  object: 'list',
  data,
  first_id: data[0]?.id ?? null,
  last_id: data.at(-1)?.id ?? null,
  has_more: hasMore,
})

export const listSchema = (item: () => z.ZodType, name: string) =>
  answerSchema(() =>
    z
      .object({
        object: z.literal('list'),
        data: z.array(item()),
        first_id: z.string().nullable(),
        last_id: z.string().nullable(),
        has_more: z.boolean(),
      })
      .openapi(name),
  )

export const deletedSchema = (object: string) => () => z.object({ id: z.string(), object: z.literal(object), deleted: z.literal(true) })
