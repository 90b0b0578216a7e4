import { createRequire } from 'node:module'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { LocalServerProcess } from '../support/local-server.ts'
import { askToRun, isIdle, openPage, RUN_MS, startBrowser, startPageServer } from './harness/browser.ts'

const AXE = createRequire(import.meta.url).resolve('axe-core/axe.min.js')
const IMAGES = join(import.meta.dirname, '..', '..', 'docs', 'img')
const CSV = 'month,total\nJan,3\nFeb,5\nMar,4\n'

let server: LocalServerProcess
let browser: Browser
beforeAll(async () => {
  server = await startPageServer()
  browser = await startBrowser()
})
afterAll(async () => {
  await browser.close()
  await server.stop()
})

/** Pictures of the documentation are written on request only, because they differ in every run. */
async function picture(page: Page, name: string): Promise<void> {
  if (process.env['CELLBLOCK_SCREENSHOTS'] === '1') await page.screenshot({ path: join(IMAGES, `${name}.png`) })
}

interface AxeResult {
  readonly violations: readonly { readonly id: string; readonly impact: string; readonly nodes: readonly { readonly html: string }[] }[]
}

/** Serious and critical findings of axe, with the markup at fault. The page's policy allows no injected script element, so axe is evaluated. */
async function axeFindings(page: Page): Promise<string[]> {
  await page.evaluate(await readFile(AXE, 'utf8'))
  const { violations } = await page.evaluate<AxeResult>('axe.run(document, { iframes: false })')
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 160)).join(' | ')}`)
}

describe('the page', () => {
  it('opens signed in by the link that the server printed, once', async () => {
    await expect.poll(() => server.said()).toMatch(/#sign-in=/)
    const link = /http\S+#sign-in=[\w-]+/.exec(server.said())?.[0] ?? ''
    const first = await (await browser.newContext()).newPage()
    await first.goto(link)
    await first.getByRole('heading', { name: 'Ask, and watch the code run' }).waitFor()
    expect(first.url()).toBe(`${server.url}/`)
    expect(await first.evaluate('JSON.stringify({ ...localStorage }) + document.cookie')).not.toContain('ck_')
    const second = await (await browser.newContext()).newPage()
    await second.goto(link)
    await second.getByText('This sign-in link was used or has expired.').waitFor()
  })

  it(
    'uploads a file, shows output while the code runs, a table, a plot and a download, and keeps them after a reload',
    async () => {
      const { page, problems } = await openPage(browser, server)
      await picture(page, 'welcome')
      await page.locator('input[type=file]').setInputFiles({ name: 'sales.csv', mimeType: 'text/csv', buffer: Buffer.from(CSV) })
      const files = page.getByRole('complementary', { name: 'Files' })
      await files.getByText('sales.csv', { exact: true }).waitFor()
      await askToRun(
        page,
        `import time, pandas as pd, matplotlib.pyplot as plt
print("\\x1b[32m" + "reading" + "\\x1b[0m", flush=True)
time.sleep(2)
sales = pd.read_csv("sales.csv")
display(sales)
sales.plot.bar(x="month", y="total", title="Sales by month", color="#3b55d9", figsize=(7, 3))
plt.tight_layout(); plt.savefig("sales.png"); plt.show()`,
      )
      const cell = page.getByRole('region', { name: /^Code cell/ })
      // The text is there while the code still sleeps.
      await cell.getByText('reading').waitFor()
      await cell.getByText('Running', { exact: true }).waitFor()
      await page.getByRole('region', { name: 'Code cell: Done' }).waitFor()
      const plot = cell.getByAltText('Output of the code')
      await plot.waitFor()
      expect(await plot.evaluate((image: HTMLImageElement) => image.naturalWidth)).toBeGreaterThan(300)
      expect(await cell.locator('.ansi-green-fg').textContent()).toBe('reading')
      await cell.getByRole('columnheader', { name: 'total' }).getByRole('button').click()
      expect(await cell.locator('tbody tr').first().textContent()).toContain('Jan')
      await isIdle(page)
      await picture(page, 'chat')

      const download = page.waitForEvent('download')
      await files.getByRole('link', { name: 'Download sales.png' }).click()
      expect((await readFile(await (await download).path())).subarray(1, 4).toString()).toBe('PNG')

      await page.reload()
      await page.getByRole('region', { name: 'Code cell: Done' }).getByAltText('Output of the code').waitFor()
      await files.getByText('sales.png', { exact: true }).waitFor()
      expect(await axeFindings(page)).toEqual([])
      expect(problems).toEqual([])
    },
    2 * RUN_MS,
  )

  it(
    'stops running code',
    async () => {
      const { page } = await openPage(browser, server)
      await askToRun(page, 'import time\nprint("begun", flush=True)\ntime.sleep(300)')
      await page
        .getByRole('region', { name: /^Code cell/ })
        .getByText('begun')
        .waitFor()
      await page.getByRole('button', { name: 'Stop' }).click()
      await page.getByText('Stopped before the end.').waitFor()
      await isIdle(page)
    },
    2 * RUN_MS,
  )

  it(
    'runs a cell, shows a folded traceback and previews a table, by keyboard on the screen of a phone',
    async () => {
      const { page, problems } = await openPage(browser, server, { width: 390, height: 780 })
      await page.getByRole('button', { name: 'Run code' }).focus()
      await page.keyboard.press('Enter')
      expect(await page.getByLabel('Python code').evaluate((input) => input === document.activeElement)).toBe(true)
      await page.keyboard.insertText('open("small.csv", "w").write("a,b\\n1,2\\n")\nraise ValueError("on purpose")')
      await page.keyboard.press('Shift+Enter')
      const traceback = page.getByText('ValueError: on purpose').first()
      await traceback.waitFor()
      await isIdle(page)
      expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true)
      await picture(page, 'phone')
      await page.getByRole('button', { name: 'Files', exact: true }).press('Enter')
      await page.getByRole('button', { name: 'small.csv', exact: true }).press('Enter')
      await page.getByRole('dialog').getByRole('cell', { name: '2' }).waitFor()
      expect(await axeFindings(page)).toEqual([])
      await page.keyboard.press('Escape')
      await page.getByRole('dialog').waitFor({ state: 'detached' })
      expect(problems).toEqual([])
    },
    2 * RUN_MS,
  )
})
