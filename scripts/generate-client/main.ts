// `npm run generate:client` writes packages/client/src/api.ts, the types of every operation, from the OpenAPI document.
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { generateClient } from './generate-client.ts'

await writeFile(join(import.meta.dirname, '../../packages/client/src/api.ts'), generateClient())
