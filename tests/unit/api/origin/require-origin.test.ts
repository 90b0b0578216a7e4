import { expect, it } from 'vitest'
import { ORIGIN_SECRET_HEADER } from '../../../../services/http/origin/config.ts'
import { requireOrigin } from '../../../../services/http/origin/require-origin.ts'

const served = async (request: Request): Promise<Response> => new Response(`served ${new URL(request.url).pathname}`)
const ask = (secret: string | null): Request =>
  new Request('https://function.example.com/v1/models', { headers: secret === null ? {} : { [ORIGIN_SECRET_HEADER]: secret } })

it('serves requests from the distribution', async () => {
  const guarded = requireOrigin(served, () => Promise.resolve('right'))
  expect(await (await guarded(ask('right'))).text()).toBe('served /v1/models')
})

it.each([
  ['nothing', null],
  ['an empty secret', ''],
  ['a wrong secret', 'wrong'],
  ['a longer secret', 'right-and-more'],
])('returns 404 for %s', async (_, secret) => {
  const answer = await requireOrigin(served, () => Promise.resolve('right'))(ask(secret))
  expect(answer.status).toBe(404)
  expect(await answer.json()).toMatchObject({ error: { message: 'Nothing is served under this address. Use the URL of the service.' } })
})

it('reads the secret once, and again only after a failed read', async () => {
  let reads = 0
  const guarded = requireOrigin(served, () => {
    reads += 1
    return reads === 1 ? Promise.reject(new Error('throttled')) : Promise.resolve('right')
  })
  expect((await guarded(ask('right'))).status).toBe(500)
  expect((await guarded(ask('right'))).status).toBe(200)
  expect((await guarded(ask('right'))).status).toBe(200)
  expect(reads).toBe(2)
})
