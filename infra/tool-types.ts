import { join } from 'node:path'
import { createTools, typesOf } from '../services/adapters/tools/create-tools.ts'
import type { Config } from './config.ts'

const PROJECT = join(import.meta.dirname, '..')

/** Tool types that requests may name, each followed by its aliases after `|`. Rejects with a sentence for a wrong tool file, before a deployment. */
export async function toolTypesOf({ tools }: Pick<Config, 'tools'>): Promise<readonly string[]> {
  // Only the chat worker reads the key, from the secret.
  const brave = tools.webSearch ? { apiKey: 'in the secret', baseUrl: 'https://api.search.brave.com' } : null
  const found = await createTools({ brave, folder: tools.folder === undefined ? null : join(PROJECT, tools.folder) })
  return typesOf(found).map((names) => names.join('|'))
}
