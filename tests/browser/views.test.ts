import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { LocalServerProcess } from '../support/local-server.ts'
import { axeFindings, isIdle, openPage, RUN_MS, runCell, startBrowser, startPageServer } from './harness/browser.ts'

const ADMIN_KEY = 'ck_admin_0123456789abcdef0123456789'
const CELLS = 30
/** The longest acceptable time from an action to the next paint, milliseconds. */
const MAX_PAINT_MS = 100
const ROUNDS = 3
/** Compressed script of the first view. */
const MAX_SCRIPT_BYTES = 60 * 1024

let server: LocalServerProcess
let browser: Browser
beforeAll(async () => {
  ;[browser, server] = await Promise.all([startBrowser(), startPageServer({ env: { CELLBLOCK_ADMIN_KEY: ADMIN_KEY } })])
})
afterAll(async () => {
  await browser.close()
  await server.stop()
})

it(
  'have no finding of axe',
  async () => {
    const { page, problems } = await openPage(browser, server)
    const found: Record<string, readonly string[]> = {}
    const look = async (view: string): Promise<void> => void (found[view] = await axeFindings(page))
    await look('empty chat')
    await runCell(page, 'import pandas\nopen("a.csv", "w").write("a,b\\n1,2\\n")\ndisplay(pandas.DataFrame({"a": [1]}))')
    await page.getByRole('region', { name: 'Code cell: Done' }).getByRole('table').waitFor()
    await isIdle(page)
    await look('chat')
    await page.emulateMedia({ colorScheme: 'dark' })
    await look('dark')
    await page.emulateMedia({ colorScheme: 'light' })
    await page.getByRole('button', { name: 'Actions for this chat' }).click()
    await look('menu')
    await page.getByRole('menuitem', { name: 'Variables' }).click()
    await look('variables')
    await page.getByRole('button', { name: 'a.csv', exact: true }).click()
    await page.getByRole('dialog').getByRole('cell', { name: '2' }).waitFor()
    await look('preview')
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: 'Edit and run again' }).click()
    await look('cell in change')
    for (const dialog of ['Your key and usage', 'Containers', 'Keyboard shortcuts']) {
      await page.getByRole('button', { name: 'Settings', exact: true }).click()
      await page.getByRole('menuitem', { name: dialog }).click()
      await page.getByRole('dialog').getByText('Loading').waitFor({ state: 'detached' })
      await look(dialog)
      await page.keyboard.press('Escape')
    }
    await signInAsAdmin(page)
    await page.getByText('Warm sandboxes').waitFor()
    await look('administration')
    await page.getByLabel('Name of the new tenant').fill('Axe')
    await page.getByRole('button', { name: 'New tenant: Create' }).click()
    await page.getByText(/^\d+ limits$/).click()
    await look('tenant')
    expect(Object.fromEntries(Object.entries(found).filter(([, list]) => list.length > 0))).toEqual({})
    expect(problems).toEqual([])
  },
  2 * RUN_MS,
)

async function signInAsAdmin(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Settings', exact: true }).click()
  await page.getByRole('menuitem', { name: 'Sign out' }).click()
  await page.getByLabel('API key').fill(ADMIN_KEY)
  expect(await axeFindings(page)).toEqual([])
  await page.getByRole('button', { name: 'Sign in' }).click()
}

it('load little script before the first paint', async () => {
  const page = await browser.newPage()
  await page.goto(server.url)
  await page.getByLabel('API key').waitFor()
  const bytes = await page.evaluate<number>(`performance.getEntriesByType('resource')
    .filter(({ name, startTime }) => name.endsWith('.js') && startTime <= performance.getEntriesByName('first-contentful-paint')[0].startTime)
    .reduce((sum, { encodedBodySize }) => sum + encodedBodySize, 0)`)
  expect(bytes).toBeGreaterThan(1_000)
  expect(bytes).toBeLessThanOrEqual(MAX_SCRIPT_BYTES)
})

/** The slowest of several interactions with a chat, milliseconds: what a person waits for the next paint. */
async function slowestInteraction(page: Page): Promise<number> {
  await page.evaluate(`globalThis.slow = 0
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries()) if (entry.interactionId > 0) globalThis.slow = Math.max(globalThis.slow, entry.duration)
    }).observe({ type: 'event', durationThreshold: 16 })`)
  await page.getByLabel('Python code').pressSequentially('total = sum(range(10))')
  await page.getByRole('button', { name: 'Edit and run again' }).last().click()
  await page.getByRole('button', { name: 'Edit and run again' }).last().click()
  await page.getByRole('button', { name: 'Actions for this chat' }).click()
  await page.keyboard.press('Escape')
  await page.getByLabel('Python code').fill('')
  return page.evaluate<number>('new Promise((resolve) => setTimeout(() => resolve(globalThis.slow), 200))')
}

it(
  `paint within ${MAX_PAINT_MS} ms of an action in a chat of ${CELLS} cells`,
  async () => {
    const { page } = await openPage(browser, server)
    await runCell(page, 'print(0)')
    for (let at = 1; at < CELLS; at++) {
      await isIdle(page)
      await runCell(page, `print(${at})`)
      await page.getByRole('region', { name: 'Code cell: Done' }).nth(at).waitFor()
    }
    await isIdle(page)
    const rounds: number[] = []
    // Another program of the machine can delay one round, hardly all of them.
    for (let round = 0; round < ROUNDS; round++) rounds.push(await slowestInteraction(page))
    expect(Math.min(...rounds)).toBeLessThanOrEqual(MAX_PAINT_MS)
  },
  2 * RUN_MS,
)
