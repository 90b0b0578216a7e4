import { afterAll, beforeAll, expect, it } from 'vitest'
import { startApi, type TestApi } from '../../support/start-api.ts'

let api: TestApi
beforeAll(async () => void (api = await startApi()))
afterAll(() => api.stop())

it('stores arguments that are too large for the row as an object, and answers all of them', async () => {
  const container = await api.openai().containers.create({ name: 'commands' })
  const script = `cat > notes.txt <<'EOF'\n${'grüße 😀\n'.repeat(60_000)}EOF`
  const answer = await api.post(`/v1/containers/${container.id}/commands?wait=0`, { command: script })
  expect(answer.status).toBe(202)
  const { id, argv } = (await answer.json()) as { readonly id: string; readonly argv: readonly string[] }
  expect(argv).toEqual(['/bin/bash', '-lc', script])
  const row = await api.table.executions.get(api.owner.tenant, id)
  expect(Buffer.byteLength(JSON.stringify(row?.source))).toBeLessThan(2_000)
  const read = (await (await api.fetch(`/v1/commands/${id}`)).json()) as { readonly argv: readonly string[] }
  expect(read.argv).toEqual(argv)
})
