import { resolve } from 'node:path'
import type { BraveSetting } from './brave-search.ts'

export interface ToolConfig {
  /** Null: there is no web search. */
  readonly brave: BraveSetting | null
  /** The folder of the operator's tool files, an absolute path; null when there are no such files. */
  readonly folder: string | null
}

const BRAVE = 'https://api.search.brave.com/res/v1'

/** BRAVE_SEARCH_API_KEY, BRAVE_SEARCH_URL (another address of the same protocol) and CELLBLOCK_TOOLS (a folder). Throws an Error that names the variable. */
export function toolConfigFromEnv(env: Readonly<Record<string, string | undefined>> = process.env): ToolConfig {
  const apiKey = env['BRAVE_SEARCH_API_KEY']?.trim() || null
  const baseUrl = env['BRAVE_SEARCH_URL']?.trim() || BRAVE
  const folder = env['CELLBLOCK_TOOLS']?.trim() || null
  if (!URL.canParse(baseUrl)) throw new Error(`BRAVE_SEARCH_URL is not a URL. Unset it, or give one such as ${BRAVE}.`)
  return {
    brave: apiKey === null ? null : { apiKey, baseUrl: baseUrl.replace(/\/+$/, '') },
    folder: folder === null ? null : resolve(folder),
  }
}
