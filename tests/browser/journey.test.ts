import { readFile } from 'node:fs/promises'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import type { LocalServerProcess } from '../support/local-server.ts'
import {
  askToRun,
  axeFindings,
  isIdle,
  openPage,
  picture,
  RUN_MS,
  runCell,
  startBrowser,
  startPageServer,
  takesPictures,
} from './harness/browser.ts'
import { buildNodeImage, type NodeImage } from './harness/node-image.ts'

const CSV = 'month,total\nJan,3\nFeb,5\nMar,4\n'

let server: LocalServerProcess
let browser: Browser
let nodeImage: NodeImage
beforeAll(async () => {
  ;[nodeImage, browser] = await Promise.all([buildNodeImage(inject('sandboxImage')), startBrowser()])
  const images = `slim=${inject('sandboxImage')},node=${nodeImage.reference}`
  // Pictures show the times of a sandbox as a user gets it.
  const preload = takesPictures ? { SANDBOX_PRELOAD: '' } : {}
  server = await startPageServer({ env: { CELLBLOCK_IMAGES: images, ...preload } })
})
afterAll(async () => {
  await browser.close()
  await server.stop()
  await nodeImage.remove()
})

/** Pictures of the whole conversation, from its beginning, in both themes, and on a phone. */
async function pictures(page: Page): Promise<void> {
  if (!takesPictures) return
  await page.setViewportSize({ width: 1280, height: 1060 })
  await page.locator('.timeline').evaluate((element) => (element.scrollTop = 0))
  await picture(page, 'chat')
  await page.emulateMedia({ colorScheme: 'dark' })
  await picture(page, 'chat-dark')
  await page.emulateMedia({ colorScheme: 'light' })
  await page.setViewportSize({ width: 390, height: 844 })
  await page.getByAltText('Output of the code').scrollIntoViewIfNeeded()
  await picture(page, 'phone')
  await page.emulateMedia({ colorScheme: 'dark' })
  await picture(page, 'phone-dark')
  await page.emulateMedia({ colorScheme: 'light' })
  await page.setViewportSize({ width: 1280, height: 860 })
}

/** How far the conversation is scrolled up, pixels. */
const fromEnd = (page: Page): Promise<number> =>
  page.locator('.timeline').evaluate((element) => element.scrollHeight - element.scrollTop - element.clientHeight)

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
sales.plot.bar(x="month", y="total", color="#3b55d9", figsize=(7, 2.8))
plt.tight_layout(); plt.savefig("sales.png"); plt.show()`,
        'Show the sales by month, and save the plot.',
      )
      const cell = page.getByRole('region', { name: /^Code cell/ })
      // The text is there while the code still sleeps.
      await cell.getByText('reading').waitFor()
      await cell.getByText('Running', { exact: true }).waitFor()
      await page.getByRole('region', { name: 'Code cell: Done' }).waitFor()
      const plot = cell.getByAltText('Output of the code')
      await plot.waitFor()
      expect(await plot.evaluate((image: HTMLImageElement) => image.naturalWidth)).toBeGreaterThan(300)
      // The plot came after its cell, and the page followed it.
      await expect.poll(() => fromEnd(page)).toBeLessThan(2)
      expect(await cell.locator('.ansi-green-fg').textContent()).toBe('reading')
      await cell.getByRole('columnheader', { name: 'total' }).getByRole('button').click()
      expect(await cell.locator('tbody tr').first().textContent()).toContain('Jan')
      await isIdle(page)
      await cell.getByRole('button', { name: 'Python, 7 lines' }).waitFor()
      await pictures(page)

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
    'runs the first example of an empty chat without a model key: a table, a plot, a file and a figure',
    async () => {
      const { page, problems } = await openPage(browser, server)
      await page
        .getByRole('list', { name: 'Examples' })
        .getByRole('button', { name: /^Plot a CSV file/ })
        .click()
      const cell = page.getByRole('region', { name: 'Code cell: Done' })
      await cell.getByAltText('Output of the code').waitFor()
      await cell.getByText('Best month: 2024-01 with 10,254 euros').waitFor()
      await cell.getByRole('columnheader', { name: 'Kitchen' }).waitFor()
      await cell.getByRole('link', { name: /revenue\.png/ }).waitFor()
      await isIdle(page)
      expect(await page.getByRole('heading', { level: 1 }).textContent()).toBe('Plot a CSV file')
      expect(problems).toEqual([])
    },
    2 * RUN_MS,
  )

  it(
    'stops running code, and runs it to its end on the next try',
    async () => {
      const { page } = await openPage(browser, server)
      await askToRun(
        page,
        `import os, time
is_first = not os.path.exists("tried")
open("tried", "w").close()
print("begun", flush=True)
time.sleep(300 if is_first else 0)
print("ended", flush=True)`,
      )
      await page
        .getByRole('region', { name: /^Code cell/ })
        .locator('.stdout', { hasText: 'begun' })
        .waitFor()
      await page.getByRole('button', { name: 'Stop' }).click()
      await page.getByText('Stopped before the end.').waitFor()
      await isIdle(page)
      await page.getByRole('button', { name: 'Try again' }).click()
      await page.getByRole('region', { name: 'Code cell: Done' }).locator('.stdout', { hasText: 'ended' }).waitFor()
      await isIdle(page)
      expect(await page.getByRole('article', { name: 'Answer' }).count()).toBe(2)
    },
    2 * RUN_MS,
  )

  it(
    'runs a cell, shows a folded traceback and previews a table, by keyboard on the screen of a phone',
    async () => {
      const { page, problems } = await openPage(browser, server, { viewport: { width: 390, height: 780 } })
      // An empty chat is read from its beginning.
      expect(await page.locator('.timeline').evaluate((element) => element.scrollTop)).toBe(0)
      await page.getByRole('button', { name: 'Run code' }).focus()
      await page.keyboard.press('Enter')
      expect(await page.getByLabel('Python code').evaluate((input) => input === document.activeElement)).toBe(true)
      await page.keyboard.insertText('open("small.csv", "w").write("a,b\\n1,2\\n")\nraise ValueError("on purpose")')
      await page.keyboard.press('Shift+Enter')
      const traceback = page.getByText('ValueError: on purpose').first()
      await traceback.waitFor()
      await isIdle(page)
      expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true)
      // The composer stands at the lower end of the screen.
      expect(await page.evaluate<number>(`innerHeight - document.querySelector('.composer').getBoundingClientRect().bottom`)).toBeLessThan(
        24,
      )
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

  it(
    'keeps the indent while code is typed, and runs a cell again after a change',
    async () => {
      const { page, problems } = await openPage(browser, server)
      await page.getByRole('button', { name: 'Run code' }).click()
      const editor = page.getByLabel('Python code')
      await editor.pressSequentially('for i in range(2):')
      await page.keyboard.press('Enter')
      await page.keyboard.type('print("line", i)')
      expect(await editor.inputValue()).toBe('for i in range(2):\n    print("line", i)')
      await page.keyboard.press('Tab')
      expect(await editor.inputValue()).toMatch(/i\) {4}$/)
      await page.keyboard.press('Escape')
      await page.keyboard.press('Tab')
      expect(await editor.evaluate((input) => input === document.activeElement)).toBe(false)
      await page.getByRole('button', { name: 'Run', exact: true }).click()
      const cells = page.getByRole('region', { name: 'Code cell: Done' })
      await cells.getByText('line 1').waitFor()
      await isIdle(page)
      await cells.getByRole('button', { name: 'Edit and run again' }).click()
      const inPlace = page.getByLabel('Code of the cell')
      expect(await inPlace.inputValue()).toContain('range(2)')
      await inPlace.fill('print("changed")')
      await page.keyboard.press('Control+Enter')
      await cells.getByText('changed', { exact: true }).waitFor()
      await isIdle(page)
      expect(await cells.count()).toBe(1)
      await page.reload()
      await cells.getByText('changed', { exact: true }).waitFor()
      expect(await cells.count()).toBe(1)
      expect(problems).toEqual([])
    },
    2 * RUN_MS,
  )

  it(
    'runs cells in other languages in a chosen image, and a shell in a terminal that a reload finds again',
    async () => {
      const { page, problems } = await openPage(browser, server)
      await page.getByRole('button', { name: 'Run code' }).click()
      await page.getByRole('button', { name: 'Sandbox settings' }).click()
      const image = page.getByLabel('Image')
      // The list arrives after the page.
      await image.locator('option', { hasText: 'node' }).waitFor({ state: 'attached' })
      expect(await image.locator('option').allTextContents()).toEqual(['slim', 'node'])
      await image.selectOption('node')
      await page.getByLabel('Language').selectOption('javascript')
      await runCell(page, 'const twice = [1, 2].map((x) => x * 2)\nconsole.log(`twice ${twice.join()}`)', 'JavaScript')
      await page.getByRole('region', { name: 'Code cell: Done' }).getByText('twice 2,4').waitFor()
      await isIdle(page)
      await page.getByRole('button', { name: 'Sandbox settings' }).click()
      expect(await image.isDisabled()).toBe(true)
      await page.keyboard.press('Escape')
      await page.getByLabel('Language').selectOption('bash')
      await runCell(page, 'echo "from $0"', 'Bash')
      const cell = page.getByRole('region', { name: 'Code cell: Done' }).last()
      await cell.getByText('Bash', { exact: true }).waitFor()
      await isIdle(page)
      await page.getByRole('button', { name: 'Terminal', exact: true }).click()
      const panel = page.getByRole('region', { name: 'Terminal' })
      await panel.getByText('Ctrl+Shift+Escape leaves the terminal').waitFor()
      const rows = panel.frameLocator('iframe').locator('.xterm-rows')
      await rows.getByText('$').first().waitFor()
      await page.keyboard.type("printf 'sum %s\\n' $((40 + 2)) | tee sum.txt\n")
      await rows.getByText('sum 42').waitFor()
      await picture(page, 'terminal')
      expect(await axeFindings(page)).toEqual([])
      await page.reload()
      await page.getByRole('button', { name: 'Terminal', exact: true }).click()
      await rows.getByText('sum 42').waitFor()
      await page.keyboard.type('exit 3\n')
      await panel.getByText('Ended with exit code 3').waitFor()
      await page.getByRole('complementary', { name: 'Files' }).getByTitle('Preview sum.txt').waitFor()
      expect(problems).toEqual([])
    },
    2 * RUN_MS,
  )
})
