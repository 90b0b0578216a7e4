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
  'the reference is reached from the page, sends a request as the signed-in person, and leads back',
  async () => {
    const { page } = await openPage(browser, server)
    await page.getByRole('navigation', { name: 'Cellblock' }).getByRole('link', { name: 'API reference' }).click()
    const bar = page.getByRole('navigation', { name: 'Cellblock' })
    await bar.getByRole('link', { name: 'Guide' }).waitFor()
    expect(await page.locator('html').getAttribute('lang')).toBe('en')
    await page.goto(`${server.url}/docs#tag/containers/POST/v1/containers`)
    await page
      .getByRole('button', { name: /Test Request/ })
      .first()
      .waitFor()
    const operation = page.locator('[id$="POST/v1/containers"]').first()
    await operation
      .getByRole('button', { name: /Test Request/ })
      .first()
      .click()
    const answered = page.waitForResponse((response) => new URL(response.url()).pathname === '/v1/containers')
    await page.getByRole('button', { name: /^Send/ }).last().click()
    expect((await answered).status()).toBe(200)
    await page.keyboard.press('Escape')
    await page.goto(`${server.url}/docs`)
    await bar.getByRole('link', { name: 'Chat' }).click()
    await page.getByRole('heading', { name: 'Ask, and watch the code run' }).waitFor()
  },
  2 * RUN_MS,
)
