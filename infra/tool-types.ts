import { join } from 'node:path'
import { createTools, typesOf } from '../services/chat/tools/create-tools.ts'
import type { Config } from './config.ts'

const PROJECT = join(import.meta.dirname, '..')

/** Types of tools that the API shall let requests name, each with its other words after a `|`. Rejects with a sentence when a tool file is wrong, so that it is never deployed. */
export async function toolTypesOf({ tools }: Pick<Config, 'tools'>): Promise<readonly string[]> {
  // The key lies in the secret, where only the chat worker reads it.
  const brave = tools.webSearch ? { apiKey: 'in the secret', baseUrl: 'https://api.search.brave.com' } : null
  const found = await createTools({ brave, folder: tools.folder === undefined ? null : join(PROJECT, tools.folder) })
  return typesOf(found).map((names) => names.join('|'))
}
