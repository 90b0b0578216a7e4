type JsonObject = Readonly<Record<string, unknown>>

const isObject = (value: unknown): value is JsonObject => typeof value === 'object' && value !== null && !Array.isArray(value)
const isString = (value: unknown): value is string => typeof value === 'string'
const isBoolean = (value: unknown): boolean => typeof value === 'boolean'
const isLines = (value: unknown): boolean => isString(value) || (Array.isArray(value) && value.every(isString))

/** Rules of the nbformat 4.5 schema for known metadata entries of notebooks and cells. */
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

/** The metadata of a notebook or cell without invalid entries; entries that nbformat does not define are kept. */
export const validMetadata = (metadata: unknown): JsonObject =>
  isObject(metadata) ? Object.fromEntries(Object.entries(metadata).filter(isValid)) : {}

/** Whether a MIME type contains JSON; every other type contains text. */
export const isJsonMime = (mime: string): boolean => /^application\/(.*\+)?json$/.test(mime)

/** The attachments of a text cell that nbformat permits. */
export const validAttachments = (attachments: JsonObject): JsonObject =>
  Object.fromEntries(
    Object.entries(attachments).filter(
      ([, bundle]) => isObject(bundle) && Object.entries(bundle).every(([mime, data]) => isJsonMime(mime) || isLines(data)),
    ),
  )
