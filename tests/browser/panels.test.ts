import { readFile } from 'node:fs/promises'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { LocalServerProcess } from '../support/local-server.ts'
import { axeFindings, isIdle, openPage, RUN_MS, runCell, startBrowser, startPageServer } from './harness/browser.ts'

let server: LocalServerProcess
let browser: Browser
beforeAll(async () => {
  ;[browser, server] = await Promise.all([startBrowser(), startPageServer()])
})
afterAll(async () => {
  await browser.close()
  await server.stop()
})

const done = (page: Page) => page.getByRole('region', { name: 'Code cell: Done' })
const files = (page: Page) => page.getByRole('complementary', { name: 'Files' })

async function openFromSettings(page: Page, name: string): Promise<void> {
  await page.getByRole('button', { name: 'Settings', exact: true }).click()
  await page.getByRole('menuitem', { name }).click()
}

it(
  'takes what is typed from the start, folds the chats, and finds them again by a key',
  async () => {
    const { page, context } = await openPage(browser, server)
    await page.keyboard.type('typed at once')
    expect(await page.getByLabel('Message').inputValue()).toBe('typed at once')
    const chats = page.getByRole('navigation', { name: 'Chats' })
    await page.getByRole('button', { name: 'Chats', exact: true }).click()
    await chats.waitFor({ state: 'hidden' })
    // The choice belongs to the browser.
    await page.reload()
    await page.getByLabel('Message').waitFor()
    expect(await chats.isVisible()).toBe(false)
    await page.keyboard.press('Control+k')
    await expect.poll(() => page.getByLabel('Search chats').evaluate((input) => input === document.activeElement)).toBe(true)
    await page.keyboard.press('Control+b')
    await chats.waitFor({ state: 'hidden' })
    await page.keyboard.press('Control+b')
    await chats.waitFor()
    await page.getByRole('button', { name: 'Theme: system' }).click()
    await page.getByRole('button', { name: 'Theme: light' }).click()
    expect(await page.locator('html').getAttribute('data-theme')).toBe('dark')
    // A sign-in link brings a person here too, with the focus in the field.
    const second = await context.newPage()
    await second.goto(server.url)
    await second.getByRole('heading', { name: 'Ask, and watch the code run' }).waitFor()
    await expect.poll(() => second.getByLabel('Message').evaluate((input) => input === document.activeElement)).toBe(true)
  },
  RUN_MS,
)

it(
  'the panel of files offers a sample while it is empty, counts rows and columns, and makes folders',
  async () => {
    const { page, problems } = await openPage(browser, server)
    await page.getByRole('button', { name: 'Files', exact: true }).click()
    await files(page).getByRole('button', { name: 'Add a sample table' }).click()
    await files(page).getByText('sales.csv', { exact: true }).waitFor()
    await files(page)
      .getByText(/ · [\d,]{3,} × \d+$/)
      .waitFor()
    await files(page).getByRole('button', { name: 'New folder' }).click()
    await page.getByLabel('Path of the new folder').fill('results/2026')
    await page.keyboard.press('Enter')
    await files(page).getByText('results/2026', { exact: true }).waitFor()
    expect(await axeFindings(page)).toEqual([])
    expect(problems).toEqual([])
  },
  2 * RUN_MS,
)

it(
  'brings back what was sent before with the arrow keys, and marks a tab whose run has ended meanwhile',
  async () => {
    const { page } = await openPage(browser, server)
    for (const code of ['first = 1', 'print("a")\nprint("b")']) {
      await runCell(page, code)
      await isIdle(page)
      await done(page)
        .nth(code === 'first = 1' ? 0 : 1)
        .waitFor()
    }
    const editor = page.getByLabel('Python code')
    await editor.press('ArrowUp')
    expect(await editor.inputValue()).toBe('print("a")\nprint("b")')
    // Inside of a text the key moves the cursor first.
    await editor.press('ArrowUp')
    expect(await editor.inputValue()).toBe('print("a")\nprint("b")')
    await editor.press('ArrowUp')
    expect(await editor.inputValue()).toBe('first = 1')
    await editor.press('ArrowDown')
    await editor.press('Control+End')
    await editor.press('ArrowDown')
    expect(await editor.inputValue()).toBe('')
    // A busy server refuses to send a result for a moment.
    const busy = { status: 429, json: { error: { message: 'Too many results.', code: 'too_many_results' } } }
    await page.route('**/v1/executions/*inline=all', (route) => route.fulfill(busy), { times: 3 })
    await page.reload()
    await done(page).locator('.stdout', { hasText: 'b' }).waitFor()
    await page.getByRole('button', { name: 'Actions for this chat' }).click()
    const download = page.waitForEvent('download')
    await page.getByRole('menuitem', { name: 'Export as Markdown' }).click()
    const text = await readFile(await (await download).path(), 'utf8')
    expect(text).toContain('```python\nprint("a")\nprint("b")\n```\n\n```text\na\nb\n```')
    // Chromium without a window never hides a tab by itself.
    await page.evaluate(`Object.defineProperty(document, 'hidden', { configurable: true, get: () => globalThis.isAway ?? false })`)
    await runCell(page, 'import time\nprint("begun", flush=True)\ntime.sleep(3)')
    await page.locator('.stdout', { hasText: 'begun' }).waitFor()
    expect(await page.title()).toMatch(/^… /)
    await page.evaluate('globalThis.isAway = true')
    await expect.poll(() => page.title(), { timeout: RUN_MS }).toMatch(/^● /)
    await page.evaluate(`globalThis.isAway = false; document.dispatchEvent(new Event('visibilitychange'))`)
    await expect.poll(() => page.title()).not.toMatch(/^[●…]/)
  },
  2 * RUN_MS,
)

it(
  'keeps older chats in the list when the latest are read again, and says when a change was refused',
  async () => {
    for (let at = 0; at < 62; at++)
      await server.native.json('POST', '/v1/conversations', { x_cellblock: { title: `Listed ${String(at).padStart(2, '0')}` } })
    const { page } = await openPage(browser, server)
    const chats = page.getByRole('navigation', { name: 'Chats' })
    await chats.getByRole('button', { name: 'Show older chats' }).click()
    await chats.getByRole('link', { name: 'Listed 00' }).waitFor()
    const isRead = page.waitForResponse((answer) => answer.url().includes('/v1/conversations?'))
    await page.evaluate(`dispatchEvent(new Event('focus'))`)
    await isRead
    await chats.getByRole('link', { name: 'Listed 61' }).waitFor()
    expect(await chats.getByRole('link', { name: 'Listed 00' }).count()).toBe(1)
    await page.route('**/v1/conversations/conv_*', (route) =>
      route.fulfill({ status: 503, json: { error: { message: 'The storage does not answer.', code: 'not_ready' } } }),
    )
    await chats.getByRole('button', { name: 'Actions for Listed 61' }).click()
    await page.getByRole('menuitem', { name: 'Rename' }).click()
    await page.getByLabel('Title of the chat').fill('Not accepted')
    await page.keyboard.press('Enter')
    await chats.getByText('The storage does not answer.').waitFor()
    await chats.getByRole('link', { name: 'Listed 61' }).waitFor()
    expect(await chats.getByText('Not accepted').count()).toBe(0)
  },
  RUN_MS,
)

it(
  'lists the runs of the key with what they printed, and asks before a container is deleted',
  async () => {
    const { page, problems } = await openPage(browser, server)
    const container = await server.native.createContainer()
    await server.native.run(container, 'print("by a program")')
    await runCell(page, 'raise ValueError("for the list")')
    await page.getByRole('region', { name: 'Code cell: Failed' }).waitFor()
    await isIdle(page)
    await openFromSettings(page, 'Runs')
    const dialog = page.getByRole('dialog', { name: 'Runs' })
    await dialog.getByText('Failed').first().click()
    await dialog.getByText('for the list').first().waitFor()
    await dialog.getByText('Done').first().click()
    await dialog.getByText('by a program').waitFor()
    expect(await axeFindings(page)).toEqual([])
    await page.keyboard.press('Escape')

    await openFromSettings(page, 'Containers')
    const row = page.getByRole('dialog').getByRole('listitem').filter({ hasText: container })
    await row.getByRole('button', { name: /^Delete/ }).click()
    await row.getByText('Delete with its files?').waitFor()
    // Leaving the button takes the question back.
    await page.keyboard.press('Tab')
    await row.getByText('Delete with its files?').waitFor({ state: 'detached' })
    expect((await server.native.call('GET', `/v1/containers/${container}`)).status).toBe(200)
    await row.getByRole('button', { name: /^Delete/ }).click()
    await row.getByRole('button', { name: /^Delete with its files/ }).click()
    await row.waitFor({ state: 'detached' })
    expect((await server.native.call('GET', `/v1/containers/${container}`)).status).toBe(404)
    await page.getByRole('dialog').getByRole('button', { name: 'New chat in it' }).first().click()
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    expect(problems).toEqual([])
  },
  2 * RUN_MS,
)
