import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { generateClient } from '../../../scripts/generate-client/generate-client.ts'

it('has the types of the OpenAPI document (run `npm run generate:client` after a change of a route)', () => {
  const types = readFileSync(join(import.meta.dirname, '../../../packages/client/src/api.ts'), 'utf8')
  // Not toBe: the difference of two long texts takes minutes.
  expect(types === generateClient()).toBe(true)
})
