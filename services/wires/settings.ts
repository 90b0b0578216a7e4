import { e2bSettings } from './e2b/settings.ts'

/** The schemas of environment variables that only one wire reads. */
export const WIRE_SETTINGS = { ...e2bSettings } as const

/** Those of the variables that are set. */
export const wireSettingsOf = (values: Partial<Record<keyof typeof WIRE_SETTINGS, string | undefined>>): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(values).filter((entry): entry is [string, string] => entry[0] in WIRE_SETTINGS && entry[1] !== undefined),
  )
