import { e2bSettings } from './e2b/settings.ts'

/** The schemas of environment variables that only one wire reads. */
export const WIRE_SETTINGS = { ...e2bSettings } as const
