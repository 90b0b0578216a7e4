type JsonObject = Readonly<Record<string, unknown>>

const isObject = (value: unknown): value is JsonObject => typeof value === 'object' && value !== null && !Array.isArray(value)
const isString = (value: unknown): value is string => typeof value === 'string'
const isBoolean = (value: unknown): boolean => typeof value === 'boolean'
const isLines = (value: unknown): boolean => isString(value) || (Array.isArray(value) && value.every(isString))

/** What the schema of nbformat 4.5 says of the entries that it knows, of a notebook and of a cell. */
const KNOWN: Readonly<Record<string, (value: unknown) => boolean>> = {
  title: isString,
  authors: Array.isArray,
  orig_nbformat: (value) => Number.isInteger(value) && Number(value) >= 1,
  name: (value) => isString(value) && /./.test(value),
  tags: (value) =>
    Array.isArray(value) && value.every((tag) => isString(tag) && /^[^,]+$/.test(tag)) && new Set(value).size === value.length,
  format: isString,
  jupyter: isObject,
  execution: (value) => isObject(value) && Object.values(value).every(isString),
  collapsed: isBoolean,
  scrolled: (value) => value === 'auto' || isBoolean(value),
}

const isValid = ([name, value]: readonly [string, unknown]): boolean => !Object.hasOwn(KNOWN, name) || KNOWN[name]?.(value) === true

/** The metadata of a notebook or a cell without the entries that would make the document invalid; what nbformat does not know stays. */
export const validMetadata = (metadata: unknown): JsonObject =>
  isObject(metadata) ? Object.fromEntries(Object.entries(metadata).filter(isValid)) : {}

/** MIME types that hold any JSON; every other one holds text. */
export const isJsonMime = (mime: string): boolean => /^application\/(.*\+)?json$/.test(mime)

/** The files in a text cell, those that nbformat allows. */
export const validAttachments = (attachments: JsonObject): JsonObject =>
  Object.fromEntries(
    Object.entries(attachments).filter(
      ([, bundle]) => isObject(bundle) && Object.entries(bundle).every(([mime, data]) => isJsonMime(mime) || isLines(data)),
    ),
  )
