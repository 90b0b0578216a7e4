import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { LocalServerProcess } from '../support/local-server.ts'
import { isIdle, openPage, RUN_MS, runCell, startBrowser, startPageServer } from './harness/browser.ts'

const CELLS = 30
/** The longest acceptable time from an action to the next paint, milliseconds. */
const MAX_PAINT_MS = 100
/** Another program of the machine can delay one round, hardly all of them. */
const MAX_ROUNDS = 8
/** Compressed script of the first view. */
const MAX_SCRIPT_BYTES = 60 * 1024

let server: LocalServerProcess
let browser: Browser
beforeAll(async () => {
  ;[browser, server] = await Promise.all([startBrowser(), startPageServer()])
})
afterAll(async () => {
  await browser.close()
  await server.stop()
})

/** Bytes of script, as transferred, that began to load before the first paint of the present document. */
const scriptOfFirstPaint = (page: Page): Promise<number> =>
  page.evaluate<number>(`performance.getEntriesByType('resource')
    .filter(({ name, startTime }) => name.endsWith('.js') && startTime <= performance.getEntriesByName('first-contentful-paint')[0].startTime)
    .reduce((sum, { encodedBodySize }) => sum + encodedBodySize, 0)`)

it('sign-in and chat load little script before the first paint', async () => {
  const signIn = await browser.newPage()
  await signIn.goto(server.url)
  await signIn.getByLabel('API key').waitFor()
  const { page: chat } = await openPage(browser, server)
  await chat.reload()
  await chat.getByRole('heading', { name: 'Ask, and watch the code run' }).waitFor()
  for (const page of [signIn, chat]) {
    const bytes = await scriptOfFirstPaint(page)
    expect(bytes).toBeGreaterThan(1_000)
    expect(bytes).toBeLessThanOrEqual(MAX_SCRIPT_BYTES)
  }
})

/** The slowest interaction during `act`, milliseconds: what a person waits for the next paint. 0: none took 16 ms. */
async function slowestDuring(page: Page, act: () => Promise<void>): Promise<number> {
  await page.evaluate(`globalThis.slow = 0
    globalThis.watching?.disconnect()
    globalThis.watching = new PerformanceObserver((list) => {
      for (const entry of list.getEntries()) if (entry.interactionId > 0) globalThis.slow = Math.max(globalThis.slow, entry.duration)
    })
    globalThis.watching.observe({ type: 'event', durationThreshold: 16 })`)
  await act()
  // Events are reported after their paint.
  return page.evaluate<number>(
    'new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(() => resolve(globalThis.slow), 100))))',
  )
}

async function useChat(page: Page): Promise<void> {
  await page.getByLabel('Python code').pressSequentially('total = sum(range(10))')
  await page.getByRole('button', { name: 'Edit and run again' }).last().click()
  await page.getByLabel('Code of the cell').pressSequentially('x = 1')
  await page.getByLabel('Code of the cell').press('Escape')
  await page.getByRole('button', { name: 'Actions for this chat' }).click()
  await page.keyboard.press('Escape')
  await page.keyboard.press('Control+b')
  await page.keyboard.press('Control+b')
  await page.getByLabel('Python code').fill('')
}

it('the measurement sees an action that is too slow', async () => {
  const { page } = await openPage(browser, server)
  await page.evaluate(`document.querySelector('.welcome h2').addEventListener('click', () => {
    for (const from = performance.now(); performance.now() - from < ${2 * MAX_PAINT_MS};);
  })`)
  const slowest = await slowestDuring(page, () => page.getByRole('heading', { name: 'Ask, and watch the code run' }).click())
  expect(slowest).toBeGreaterThan(MAX_PAINT_MS)
})

it(
  `a chat of ${CELLS} cells paints within ${MAX_PAINT_MS} ms of an action`,
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
    while (rounds.length < MAX_ROUNDS && Math.min(...rounds) > MAX_PAINT_MS) rounds.push(await slowestDuring(page, () => useChat(page)))
    process.stderr.write(`Slowest interaction of each round, ms: ${rounds.join(', ')}\n`)
    expect(Math.min(...rounds), rounds.join(', ')).toBeLessThanOrEqual(MAX_PAINT_MS)
  },
  2 * RUN_MS,
)
