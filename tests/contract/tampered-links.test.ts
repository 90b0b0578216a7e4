import { afterAll, beforeAll, expect, it } from 'vitest'
import { tamper } from '../support/link-mutations.ts'
import { startAwsStorage, type AwsStorage } from '../emulators/start-aws-storage.ts'

const KEY = 'tenants/tnt_1/cntr_1/files/abc'
const OTHER = 'tenants/tnt_2/cntr_2/files/abc'

let storage: AwsStorage
let link: string
beforeAll(async () => {
  storage = await startAwsStorage()
  await storage.objects.put(KEY, Buffer.from('mine to read'), { contentType: 'text/plain' })
  await storage.objects.put(OTHER, Buffer.from("another's secret"), { contentType: 'text/plain' })
  const options = { publicUrl: storage.emulators.endpoints.s3, filename: 'report.csv', contentType: 'text/csv', expiresSeconds: 300 }
  link = await storage.objects.presignGet(KEY, options)
})
afterAll(async () => {
  await storage.stop()
})

it('a link serves only what was signed, in at least sixty modified forms', async () => {
  expect(await (await fetch(link)).text()).toBe('mine to read')
  const attempts = tamper(link)
  expect(attempts.length).toBeGreaterThanOrEqual(60)
  const got = await Promise.all(
    attempts.map(async ({ name, url, method, headers }) => {
      const answer = await fetch(url, { method, headers, ...(method === 'PUT' || method === 'POST' ? { body: 'x' } : {}) })
      const text = await answer.text()
      return { name, isRefused: [400, 403, 404].includes(answer.status) && !/mine|secret/.test(text) }
    }),
  )
  expect(got.filter(({ isRefused }) => !isRefused).map(({ name }) => name)).toEqual([])
  expect(await storage.objects.head(KEY)).toEqual({ bytes: 12 })
})
