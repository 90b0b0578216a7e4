import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { LocalServerProcess } from '../support/local-server.ts'
import { askToRun, axeFindings, isIdle, openPage, RUN_MS, runCell, startBrowser, startPageServer } from './harness/browser.ts'

const ADMIN_KEY = 'ck_admin_0123456789abcdef0123456789'

let server: LocalServerProcess
let browser: Browser
beforeAll(async () => {
  ;[browser, server] = await Promise.all([startBrowser(), startPageServer({ env: { CELLBLOCK_ADMIN_KEY: ADMIN_KEY } })])
})
afterAll(async () => {
  await browser.close()
  await server.stop()
})

/** Findings of axe by view; both themes of each. */
class Views {
  readonly #found: Record<string, readonly string[]> = {}
  readonly #page: Page

  constructor(page: Page) {
    this.#page = page
  }

  async look(view: string): Promise<void> {
    for (const colorScheme of ['dark', 'light'] as const) {
      await this.#page.emulateMedia({ colorScheme })
      const findings = await axeFindings(this.#page)
      if (findings.length > 0) this.#found[`${view}, ${colorScheme}`] = findings
    }
  }

  get findings(): Readonly<Record<string, readonly string[]>> {
    return this.#found
  }
}

async function openDialog(page: Page, name: string): Promise<void> {
  await page.getByRole('button', { name: 'Settings', exact: true }).click()
  await page.getByRole('menuitem', { name }).click()
  await page.getByRole('dialog').getByText('Loading').waitFor({ state: 'detached' })
}

async function openFromChat(page: Page, name: string): Promise<void> {
  await page.getByRole('button', { name: 'Actions for this chat' }).click()
  await page.getByRole('menuitem', { name }).click()
}

it(
  'of a chat have no finding of axe',
  async () => {
    const { page, problems } = await openPage(browser, server)
    const views = new Views(page)
    await views.look('empty chat')
    await runCell(page, 'import pandas\nopen("a.csv", "w").write("a,b\\n1,2\\n")\ndisplay(pandas.DataFrame({"a": [1]}))')
    await page.getByRole('region', { name: 'Code cell: Done' }).getByRole('table').waitFor()
    await isIdle(page)
    await page.getByRole('button', { name: 'Ask', exact: true }).click()
    await askToRun(page, 'raise ValueError("for axe")')
    await page.getByRole('region', { name: 'Code cell: Failed' }).waitFor()
    await isIdle(page)
    await views.look('chat')
    await page.getByRole('button', { name: 'Edit and send again' }).click()
    await views.look('message in change')
    await page.getByRole('button', { name: 'Cancel' }).click()
    await page.getByRole('button', { name: 'Edit and run again' }).first().click()
    await views.look('cell in change')
    await page.getByRole('button', { name: 'Actions for this chat' }).click()
    await views.look('menu')
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: 'Sandbox settings' }).click()
    await views.look('sandbox settings')
    await page.keyboard.press('Escape')
    await openFromChat(page, 'Variables')
    await openFromChat(page, 'Network')
    await page.getByRole('region', { name: 'Network' }).getByText('no network').waitFor()
    await views.look('variables and network')
    await page.getByRole('button', { name: 'a.csv', exact: true }).click()
    await page.getByRole('dialog').getByRole('cell', { name: '2' }).waitFor()
    await views.look('preview')
    await page.keyboard.press('Escape')
    for (const dialog of ['Your key and usage', 'Containers', 'Runs', 'Keyboard shortcuts']) {
      await openDialog(page, dialog)
      await views.look(dialog)
      await page.keyboard.press('Escape')
    }
    await page.getByLabel('Search chats').fill('no such title')
    await page.getByText('No title has this text.').waitFor()
    await views.look('search')
    await page.getByLabel('Search chats').fill('')
    await openFromChat(page, 'Archive')
    await page.getByRole('button', { name: 'Undo' }).waitFor()
    await views.look('undo')
    await page.getByRole('button', { name: 'Archived chats' }).click()
    await views.look('archived chats')
    await page.getByRole('button', { name: 'Chats', exact: true }).click()
    await views.look('chats folded')
    await page.setViewportSize({ width: 390, height: 844 })
    await views.look('phone')
    await page.getByRole('button', { name: 'Chats', exact: true }).click()
    await views.look('phone, chats')
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: 'Files', exact: true }).click()
    await views.look('phone, files')
    expect(views.findings).toEqual({})
    expect(problems).toEqual([])
  },
  3 * RUN_MS,
)

it(
  'of sign-in and administration have no finding of axe',
  async () => {
    const { page, problems } = await openPage(browser, server)
    const views = new Views(page)
    await page.getByRole('button', { name: 'Settings', exact: true }).click()
    await page.getByRole('menuitem', { name: 'Sign out' }).click()
    await page.getByLabel('API key').fill('ck_wrong')
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByText('This key is not valid here').waitFor()
    await views.look('sign-in')
    await page.getByLabel('API key').fill(ADMIN_KEY)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByText('Warm sandboxes').waitFor()
    await views.look('server')
    await page.getByLabel('Name of the new tenant').fill('Axe')
    await page.getByRole('button', { name: 'New tenant: Create' }).click()
    await page.getByText(/^\d+ limits$/).click()
    await page.getByLabel('Name of the new key').fill('one')
    await page.getByRole('button', { name: 'New key: Create' }).click()
    await page.getByRole('button', { name: 'Revoke one' }).click()
    await views.look('tenant')
    await page.setViewportSize({ width: 390, height: 844 })
    await views.look('tenant on a phone')
    expect(views.findings).toEqual({})
    expect(problems.filter((text) => !text.includes('401'))).toEqual([])
  },
  2 * RUN_MS,
)
