import { readFileSync } from 'node:fs'

const PROFILE = new URL('../../../../runtime-image/seccomp.json', import.meta.url)

/** The text of our profile for the engine, which takes its content, not its path. */
export const readSeccompProfile = (): string => JSON.stringify(JSON.parse(readFileSync(PROFILE, 'utf8')))
