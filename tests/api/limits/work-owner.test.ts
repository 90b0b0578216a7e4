import { afterAll, beforeAll, expect, it } from 'vitest'
import { currentOwner } from '../../../services/model/trace.ts'
import type { Table } from '../../../services/ports/table.ts'
import { startApi, type TestApi } from '../../support/start-api.ts'

/** For whom the process worked when it called a store. */
const calls: { readonly name: string; readonly owner: string }[] = []

/** The same object, whose methods and those of its parts are noted. */
function noted<T extends object>(of: T, path = ''): T {
  return new Proxy(of, {
    get(target, name, receiver) {
      const value: unknown = Reflect.get(target, name, receiver)
      const at = `${path}${String(name)}`
      if (typeof value === 'object' && value !== null) return noted(value, `${at}.`)
      if (typeof value !== 'function') return value
      return (...args: unknown[]): unknown => {
        calls.push({ name: at, owner: currentOwner() })
        return Reflect.apply(value, target, args)
      }
    },
  })
}

let api: TestApi
beforeAll(async () => void (api = await startApi({ wrapTable: (table: Table) => noted(table) })))
afterAll(() => api.stop())

it.each([
  ['GET', '/v1/limits', undefined],
  ['GET', '/v1/containers', undefined],
  ['POST', '/v1/conversations', {}],
  ['POST', '/v1/containers', { name: 'c' }],
  ['DELETE', '/v1/containers/cntr_0', undefined],
  ['POST', '/e2b/sandboxes', { templateID: 'base' }],
])('reads and writes for the tenant of the key: %s %s', async (method, path, body) => {
  const key = await api.newKey()
  calls.length = 0
  const answer = await api.fetch(path, {
    method,
    headers: { authorization: `Bearer ${key.key}`, 'x-api-key': key.key, 'content-type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
    key: null,
  })
  await answer.arrayBuffer()
  const known = calls.findIndex(({ name }) => name === 'tenants.findKey')
  expect(calls[known]?.owner).toMatch(/^address /)
  const after = calls.slice(known + 1).filter(({ name }) => name !== 'tenants.touchKey')
  expect(after.length).toBeGreaterThan(0)
  expect(after.filter(({ owner }) => owner !== key.tenant)).toEqual([])
})
