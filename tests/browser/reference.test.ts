import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { LocalServerProcess } from '../support/local-server.ts'
import { axeFindings, openPage, RUN_MS, startBrowser, startPageServer } from './harness/browser.ts'

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
  'pages of text have no finding of axe, also that of a guide that is not there',
  async () => {
    const page = await browser.newPage()
    for (const [path, heading] of [
      ['/docs/errors', 'Errors'],
      ['/docs/errors/invalid_json', 'invalid_json'],
      ['/docs/guide/', 'This server has no documentation'],
    ] as const)
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme })
        await page.goto(server.url + path)
        await page.getByRole('heading', { level: 1, name: heading }).waitFor()
        expect(await axeFindings(page), path).toEqual([])
      }
  },
  RUN_MS,
)

it(
  'the reference is reached from the page, sends requests as the signed-in person, and leads back',
  async () => {
    const { page } = await openPage(browser, server)
    await page.getByRole('navigation', { name: 'Cellblock' }).getByRole('link', { name: 'API reference' }).click()
    const bar = page.getByRole('navigation', { name: 'Cellblock' })
    await bar.getByRole('link', { name: 'Guide' }).waitFor()
    expect(await page.locator('html').getAttribute('lang')).toBe('en')
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme })
      await expect.poll(() => axeFindings(page), { timeout: RUN_MS, interval: 1_000 }).toEqual([])
    }
    // The document was read: its operations are listed. The reader sends one with the reference's own button.
    await page.getByRole('button', { name: 'Open Group - Containers' }).click()
    await page
      .getByRole('link', { name: /List containers/ })
      .first()
      .click()
    const answer = page.waitForResponse((response) => new URL(response.url()).pathname === '/v1/containers')
    await page.getByRole('button', { name: /Test Request.*get \/v1\/containers\)/ }).click()
    await page.getByRole('button', { name: /Send get request/ }).click()
    expect((await answer).status()).toBe(200)
    await page.keyboard.press('Escape')
    await bar.getByRole('link', { name: 'Chat' }).click()
    await page.getByRole('heading', { name: 'Ask, and watch the code run' }).waitFor()
  },
  2 * RUN_MS,
)
