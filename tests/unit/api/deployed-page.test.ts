import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { PAGE_PREFIX } from '../../../services/http/origin/config.ts'
import { deployedPage } from '../../../services/http/page/deployed-page.ts'
import { newSession, openSession, sealSession } from '../../../services/http/page/session-cookie.ts'
import { startStorage, type Storage } from '../../support/start-storage.ts'

let storage: Storage
beforeAll(async () => {
  storage = await startStorage()
  for (const path of ['index.html', 'assets/main-1a2b.js'])
    await storage.objects.put(`${PAGE_PREFIX}${path}`, Buffer.from(`file ${path}`), { contentType: 'text/plain' })
  await storage.objects.put('tenants/secret.txt', Buffer.from('private'), { contentType: 'text/plain' })
})
afterAll(() => storage.stop())

const page = (secret: () => Promise<string>) =>
  deployedPage({ site: storage.objects, originSecret: secret, objectOrigin: 'https://bucket.s3.eu-west-1.amazonaws.com' })

describe('the page of a deployment', () => {
  it('reads the built files by their names, with their types', async () => {
    const { readFile } = page(async () => 'key')
    const read = async (path: string) => {
      const file = await readFile?.(path)
      return file ? [file.contentType, Buffer.from(file.bytes).toString()] : null
    }
    expect(await read('index.html')).toEqual(['text/html; charset=utf-8', 'file index.html'])
    expect(await read('assets/main-1a2b.js')).toEqual(['text/javascript; charset=utf-8', 'file assets/main-1a2b.js'])
    expect(await read('assets/missing.js')).toBeNull()
  })

  it.each(['../tenants/secret.txt', 'assets/../../tenants/secret.txt', '/tenants/secret.txt', ''])(
    'reads no other object: %j',
    async (path) => {
      expect(await page(async () => 'key').readFile?.(path)).toBeNull()
    },
  )

  it('derives one session secret per origin secret, and reads the origin secret again after a failure', async () => {
    let calls = 0
    const failing = page(async () => {
      calls += 1
      if (calls === 1) throw new Error('no answer')
      return 'key'
    })
    await expect(failing.sessionSecret()).rejects.toThrow('no answer')
    const session = newSession('ck_test', 1_000)
    const cookie = sealSession(session, await failing.sessionSecret())
    expect(openSession(cookie, await page(async () => 'key').sessionSecret(), 2_000)).toMatchObject(session)
    expect(openSession(cookie, await page(async () => 'another').sessionSecret(), 2_000)).toBeNull()
  })

  it('has no sign-in link, and lets the page load from the bucket', () => {
    const ports = page(async () => 'key')
    expect(ports.redeemSignIn('any')).toBeNull()
    expect(ports.objectOrigins).toEqual(['https://bucket.s3.eu-west-1.amazonaws.com'])
  })
})
