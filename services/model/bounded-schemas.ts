import { ZodArray, ZodObject, ZodRecord } from 'zod'
import * as z from 'zod'
import * as core from 'zod/v4/core'

/** Unknown fields that an open object may have. */
const MAX_UNKNOWN_FIELDS = 100

interface ListBounds {
  readonly min?: number
  readonly max: number
}

/**
 * zod checks every entry and keeps about 400 bytes for each invalid one, so a body of megabytes would take seconds and gigabytes. These types count the
 * entries first and end at the first invalid one.
 */
interface BoundedArrayDef extends core.$ZodArrayDef {
  readonly maxEntries: number
}

const BoundedArray = core.$constructor<z.ZodArray, BoundedArrayDef>('BoundedArray', (inst, def) => {
  ZodArray.init(inst, def)
  const parse = inst._zod.parse.bind(inst._zod)
  inst._zod.parse = (payload, context) => {
    const entries = payload.value
    if (!Array.isArray(entries)) return parse(payload, context)
    // The check of the length, which follows, refuses it.
    if (entries.length > def.maxEntries) return payload
    const checked: unknown[] = []
    for (let index = 0; index < entries.length; index++) {
      const result = now(def.element._zod.run({ value: entries[index], issues: [] }, context))
      if (result.issues.length > 0) {
        payload.issues.push(...core.util.prefixIssues(index, result.issues))
        return payload
      }
      checked.push(result.value)
    }
    payload.value = checked
    return payload
  }
})

interface BoundedRecordDef extends core.$ZodRecordDef {
  readonly maxEntries: number
}

const BoundedRecord = core.$constructor<z.ZodRecord, BoundedRecordDef>('BoundedRecord', (inst, def) => {
  ZodRecord.init(inst, def)
  const parse = inst._zod.parse.bind(inst._zod)
  inst._zod.parse = (payload, context) => {
    const input = payload.value
    if (!core.util.isPlainObject(input)) return parse(payload, context)
    const keys = Object.keys(input)
    if (keys.length > def.maxEntries) return refuse(payload, `give at most ${def.maxEntries} entries`, inst)
    const checked: Record<string, unknown> = {}
    for (const key of keys) {
      if (key === '__proto__') return refuse(payload, 'a name cannot be __proto__', inst)
      const name = now(def.keyType._zod.run({ value: key, issues: [] }, context))
      const entry = name.issues.length > 0 ? name : now(def.valueType._zod.run({ value: input[key], issues: [] }, context))
      if (entry.issues.length > 0) {
        payload.issues.push(...core.util.prefixIssues(key, entry.issues))
        return payload
      }
      checked[String(name.value)] = entry.value
    }
    payload.value = checked
    return payload
  }
})

const OpenObject = core.$constructor<z.ZodObject>('OpenObject', (inst, def) => {
  ZodObject.init(inst, def)
  const parse = inst._zod.parse.bind(inst._zod)
  const known = Object.keys(def.shape).length
  inst._zod.parse = (payload, context) => {
    const input = payload.value
    const isCrowded = typeof input === 'object' && input !== null && Object.keys(input).length > known + MAX_UNKNOWN_FIELDS
    return isCrowded ? refuse(payload, `give at most ${MAX_UNKNOWN_FIELDS} fields that are not documented`, inst) : parse(payload, context)
  }
})

type Payload = core.ParsePayload

/** Schemas of requests are synchronous. */
function now(result: Payload | Promise<Payload>): Payload {
  if (result instanceof Promise) throw new Error('A schema of a request is asynchronous')
  return result
}

function refuse(payload: Payload, message: string, inst: core.$ZodType): Payload {
  payload.issues.push({ code: 'custom', message, input: payload.value, inst })
  return payload
}

/** A list with at most `max` entries. */
export const boundedList = <Entry extends z.ZodType>(entry: Entry, { min = 0, max }: ListBounds): z.ZodArray<Entry> =>
  new BoundedArray({
    type: 'array',
    element: entry,
    maxEntries: max,
    checks: [
      z.maxLength(max, `give at most ${max} entries`),
      ...(min > 0 ? [z.minLength(min, `give at least ${min} ${min === 1 ? 'entry' : 'entries'}`)] : []),
    ],
  }) as unknown as z.ZodArray<Entry>

/** An object of at most `max` entries with any names. */
export const boundedRecord = <Value extends z.ZodType>(name: z.ZodString, value: Value, max: number): z.ZodRecord<z.ZodString, Value> =>
  new BoundedRecord({ type: 'record', keyType: name, valueType: value, maxEntries: max }) as unknown as z.ZodRecord<z.ZodString, Value>

/** An object whose unknown fields are kept, at most MAX_UNKNOWN_FIELDS. */
export const openObject = <Shape extends core.$ZodLooseShape>(shape: Shape, message?: string): z.ZodObject<Shape, core.$loose> =>
  new OpenObject({ type: 'object', shape, catchall: z.unknown(), ...(message !== undefined && { error: () => message }) }) as z.ZodObject<
    Shape,
    core.$loose
  >

/** A value of any type, whose JSON has at most `max` characters. */
export const smallJson = (max: number) =>
  z.unknown().refine((value) => (JSON.stringify(value) ?? '').length <= max, `give at most ${max} characters of JSON`)

/** Whether a part of a schema has a bound. For the test that walks the schemas of all requests. */
export const isBounded = (schema: core.$ZodType): boolean =>
  ['BoundedArray', 'BoundedRecord', 'OpenObject'].some((name) => schema._zod.traits.has(name))
