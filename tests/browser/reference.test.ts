import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { LocalServerProcess } from '../support/local-server.ts'
import { openPage, RUN_MS, startBrowser, startPageServer } from './harness/browser.ts'

let server: LocalServerProcess
let browser: Browser
beforeAll(async () => {
  ;[browser, server] = await Promise.all([startBrowser(), startPageServer()])
})
afterAll(async () => {
  await browser.close()
  await server.stop()
})

it(
  'the reference is reached from the page, sends requests as the signed-in person, and leads back',
  async () => {
    const { page } = await openPage(browser, server)
    await page.getByRole('navigation', { name: 'Cellblock' }).getByRole('link', { name: 'API reference' }).click()
    const bar = page.getByRole('navigation', { name: 'Cellblock' })
    await bar.getByRole('link', { name: 'Guide' }).waitFor()
    expect(await page.locator('html').getAttribute('lang')).toBe('en')
    // The document was read: its operations are listed.
    await page.getByText('Create a container').first().waitFor()
    const send = `fetch('/v1/containers', {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: 'Bearer ' },
      body: JSON.stringify({ name: 'from the reference' }),
    }).then(({ status }) => status)`
    expect(await page.evaluate(send)).toBe(200)
    await bar.getByRole('link', { name: 'Chat' }).click()
    await page.getByRole('heading', { name: 'Ask, and watch the code run' }).waitFor()
  },
  2 * RUN_MS,
)
