import * as z from 'zod'
import { expect, it } from 'vitest'
import { Metadata } from '../../../services/http/schemas.ts'
import { boundedList, boundedRecord, isBounded, openObject, smallJson } from '../../../services/model/bounded-schemas.ts'

const faults = (schema: z.ZodType, value: unknown): readonly (readonly [path: string, message: string])[] =>
  (schema.safeParse(value).error?.issues ?? []).map(({ path, message }) => [path.join('.'), message])
const filled = (count: number): Record<string, number> =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`k${index}`, index]))

it('checks a list up to its first invalid entry', () => {
  let checked = 0
  const entry = z.number().refine((value) => ++checked > 0 && value >= 0, 'negative')
  expect(faults(z.object({ list: boundedList(entry, { max: 10 }) }), { list: [1, -1, 'x', -2] })).toEqual([['list.1', 'negative']])
  expect(checked).toBe(2)
})

it('counts a list before it checks an entry', () => {
  const list = boundedList(z.string('not text'), { min: 1, max: 2 })
  expect(faults(list, [1, 2, 3])).toEqual([['', 'give at most 2 entries']])
  expect(faults(list, [])).toEqual([['', 'give at least 1 entry']])
  expect(faults(list, {})).toEqual([['', 'Invalid input: expected array, received object']])
  expect(list.parse(['a', 'b'])).toEqual(['a', 'b'])
})

it('uses what entries are transformed to', () => {
  expect(boundedList(z.string().transform(Number), { max: 2 }).parse(['1', '2'])).toEqual([1, 2])
  expect(boundedRecord(z.string(), z.string().default('x'), 2).parse({ a: undefined })).toEqual({ a: 'x' })
})

it('checks a record up to its first invalid name or value', () => {
  const record = boundedRecord(z.string().max(2, 'long name'), z.number('no number'), 3)
  expect(faults(record, { a: 1, bbb: 2, c: 'x' })).toEqual([['bbb', 'long name']])
  expect(faults(record, { a: 1, b: 'x', ccc: 1 })).toEqual([['b', 'no number']])
  expect(faults(record, { a: '', b: '', c: '', d: '' })).toEqual([['', 'give at most 3 entries']])
  expect(faults(record, JSON.parse('{"__proto__":1}'))).toEqual([['', 'a name cannot be __proto__']])
  expect(faults(record, [])).toEqual([['', 'Invalid input: expected record, received array']])
  expect(record.parse({ to: 1 })).toEqual({ to: 1 })
})

it('keeps unknown fields of an open object up to 100', () => {
  const open = openObject({ a: z.string() }, 'give an object')
  expect(open.parse({ a: 'x', ...filled(100) })).toEqual({ a: 'x', ...filled(100) })
  expect(faults(open, { a: 'x', ...filled(101) })).toEqual([['', 'give at most 100 fields that are not documented']])
  expect(faults(open, 7)).toEqual([['', 'give an object']])
  expect(faults(open.extend({ b: z.string() }), { a: '', b: '', ...filled(101) })).toHaveLength(1)
})

it('bounds the size of a value of any type', () => {
  expect(smallJson(5).parse([1, 2])).toEqual([1, 2])
  expect(faults(smallJson(5), [1, 2, 3])).toEqual([['', 'give at most 5 characters of JSON']])
})

it('keeps its bounds when a schema is described, refined or extended', () => {
  const list = boundedList(z.string(), { max: 1 })
  for (const schema of [list.openapi({ description: 'x' }), list.min(1), list.refine(() => true), openObject({}).extend({ a: z.string() })])
    expect(isBounded(schema)).toBe(true)
  expect(faults(list.min(1).openapi({ description: 'x' }), [1, 2])).toEqual([['', 'give at most 1 entries']])
  expect(faults(Metadata().openapi({ description: 'x' }), filled(17))).toEqual([['', 'give at most 16 entries']])
})
