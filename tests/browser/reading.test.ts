import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { LocalServerProcess } from '../support/local-server.ts'
import { say, startScriptedUpstream, type ScriptedUpstream } from '../support/scripted-upstream.ts'
import { isIdle, openPage, RUN_MS, runCell, startBrowser, startPageServer } from './harness/browser.ts'

/** Bytes of a file whose upload takes some seconds, and the rate of the connection in bytes per second. */
const SLOW_FILE_BYTES = 2_000_000
const SLOW_RATE = 200_000

let server: LocalServerProcess
let browser: Browser
let upstream: ScriptedUpstream
beforeAll(async () => {
  ;[browser, upstream] = await Promise.all([startBrowser(), startScriptedUpstream()])
  const model = (name: string, readsImages: boolean) => ({
    name,
    base_url: upstream.baseUrl,
    model: name,
    context_window: 32_768,
    tool_calls: 'native',
    vision: readsImages,
  })
  server = await startPageServer({ env: { CELLBLOCK_MODELS: JSON.stringify([model('sees', true), model('blind', false)]) } })
})
afterAll(async () => {
  await browser.close()
  await server.stop()
  await upstream.stop()
})

const done = (page: Page) => page.getByRole('region', { name: 'Code cell: Done' })
const preview = async (page: Page, name: string): Promise<void> => {
  await page.getByRole('complementary', { name: 'Files' }).getByRole('button', { name, exact: true }).click()
}

it(
  'shows how long the model thinks, and what it thought, also after a reload',
  async () => {
    const { page } = await openPage(browser, server)
    const gate = Promise.withResolvers<void>()
    const thought = 'Compare both groups first.'
    const answer = say('Both are equal.')
    upstream.play(() => ({ ...answer, deltas: [{ reasoning_content: thought }, ...answer.deltas], gate: gate.promise }))
    await page.getByLabel('Message').fill('Which is larger?')
    await page.keyboard.press('Enter')
    await page.locator('.working', { hasText: /(?:thinks|writes), \d+ s/ }).waitFor()
    gate.resolve()
    await page.getByText('Both are equal.').waitFor()
    for (const isReloaded of [false, true]) {
      if (isReloaded) await page.reload()
      const details = page.getByRole('group').filter({ hasText: 'Reasoning' })
      await details.getByText('Reasoning').click()
      await details.getByText(thought).waitFor()
    }
  },
  2 * RUN_MS,
)

it(
  'counts the time of a running cell, and leads to new output below and to the end',
  async () => {
    const { page } = await openPage(browser, server)
    await runCell(page, 'for i in range(120): print("line", i)')
    await done(page).getByText('line 119').waitFor()
    await isIdle(page)
    await runCell(page, 'import time\nfor i in range(400):\n    print("tick", i, flush=True)\n    time.sleep(0.2)')
    const running = page.getByRole('region', { name: 'Code cell: Running' })
    await running.locator('.usage', { hasText: /^\d+ s$/ }).waitFor()
    const place = page.getByRole('region', { name: 'Conversation' })
    await place.evaluate((element) => (element.scrollTop = 0))
    await page.getByRole('button', { name: 'New output below' }).click()
    await expect.poll(() => place.evaluate((element) => element.scrollHeight - element.scrollTop - element.clientHeight)).toBeLessThan(120)
    // Escape stops what runs, and the list of shortcuts says so.
    await page.keyboard.press('Escape')
    await page.getByRole('region', { name: 'Code cell: Stopped' }).waitFor()
    await place.evaluate((element) => (element.scrollTop = 0))
    await page.getByRole('button', { name: 'To the end' }).click()
    await page.keyboard.press('Control+/')
    await page.getByRole('dialog').getByText('Stop what runs').waitFor()
  },
  2 * RUN_MS,
)

it(
  'opens a chat with pictures at its end, however late they get their size',
  async () => {
    const { page } = await openPage(browser, server)
    await runCell(page, 'import matplotlib.pyplot as plt\nfor i in range(4):\n    plt.plot([i, 1])\n    plt.show()')
    await expect.poll(() => done(page).getByRole('img').count()).toBe(4)
    await isIdle(page)
    await page.reload()
    await expect.poll(() => done(page).getByRole('img').count()).toBe(4)
    const place = page.getByRole('region', { name: 'Conversation' })
    const below = () => place.evaluate((element) => element.scrollHeight - element.scrollTop - element.clientHeight)
    await expect.poll(below).toBeLessThan(2)
    // Content grows between the page's own scrolling and the event of it.
    await place.evaluate(async (element) => {
      const frame = () => new Promise((resolve) => requestAnimationFrame(resolve))
      element.scrollTop -= 50
      await frame()
      await frame()
      element.scrollTop = element.scrollHeight
      // At the end: browsers keep the place of what is below a picture that grows above it.
      const grown = element.querySelector('.entries')?.appendChild(document.createElement('div'))
      if (grown !== undefined) grown.style.height = '600px'
    })
    await expect.poll(below).toBeLessThan(2)
    expect(await page.getByRole('button', { name: 'To the end' }).count()).toBe(0)
  },
  2 * RUN_MS,
)

it(
  'previews spreadsheets, PDF and an empty table, and says which library a preview lacks',
  async () => {
    const { page } = await openPage(browser, server)
    await runCell(
      page,
      [
        'import pandas, matplotlib.pyplot as plt',
        'table = pandas.DataFrame({"city": ["Bonn", "Kiel"], "n": [1, 2]})',
        'table.to_excel("sheet.xlsx", index=False)',
        'open("empty.csv", "w").close()',
        'open("rows.parquet", "wb").write(b"PAR1\\0\\0PAR1")',
        'plt.plot([1, 2]); plt.savefig("plot.pdf"); plt.close()',
      ].join('\n'),
    )
    await done(page).waitFor()
    await isIdle(page)
    await preview(page, 'sheet.xlsx')
    await page.getByRole('dialog').getByRole('cell', { name: 'Kiel' }).waitFor()
    await page.keyboard.press('Escape')
    await preview(page, 'plot.pdf')
    await page.getByTitle('The document plot.pdf').waitFor()
    await page.getByRole('button', { name: 'Close the preview' }).click()
    await preview(page, 'empty.csv')
    await page.getByRole('dialog').getByText('The file is empty.').waitFor()
    await page.keyboard.press('Escape')
    // The small image has no pyarrow.
    await preview(page, 'rows.parquet')
    await page.getByRole('dialog').getByText('needs the library pyarrow, which the image of this container lacks').waitFor()
  },
  2 * RUN_MS,
)

it(
  'shows the percent of an upload, which can be stopped, and says when a model sees no pictures',
  async () => {
    const { page, context } = await openPage(browser, server)
    const network = await context.newCDPSession(page)
    const conditions = { offline: false, latency: 0, downloadThroughput: -1 }
    await network.send('Network.emulateNetworkConditions', { ...conditions, uploadThroughput: SLOW_RATE })
    const chips = page.getByRole('list', { name: 'Attached files' })
    await page.locator('input[type=file]').setInputFiles({
      name: 'slow.bin',
      mimeType: 'application/octet-stream',
      buffer: Buffer.alloc(SLOW_FILE_BYTES, 1),
    })
    await chips.getByText(/^[1-9]\d? % of /).waitFor()
    await chips.getByRole('button', { name: 'Stop the upload of slow.bin' }).click()
    await chips.waitFor({ state: 'detached' })
    await network.send('Network.emulateNetworkConditions', { ...conditions, uploadThroughput: -1 })
    const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg=='
    await page.locator('input[type=file]').setInputFiles({ name: 'dot.png', mimeType: 'image/png', buffer: Buffer.from(png, 'base64') })
    await chips.getByText('dot.png', { exact: true }).waitFor()
    await page.getByLabel('Model').selectOption('sees')
    expect(await page.getByText('sees no pictures').count()).toBe(0)
    await page.getByLabel('Model').selectOption('blind')
    await page.getByText('The model blind sees no pictures').waitFor()
    expect(await page.getByRole('complementary', { name: 'Files' }).getByText('slow.bin').count()).toBe(0)
  },
  2 * RUN_MS,
)

it(
  'edits a cell in place with completion, runs all cells, and shows files of an API call at once',
  async () => {
    const { page } = await openPage(browser, server)
    await runCell(page, 'first_value = 1')
    await done(page).waitFor()
    await isIdle(page)
    await runCell(page, 'print("sum", first_value + 1)')
    await page.getByText('sum 2').waitFor()
    await isIdle(page)
    await page.getByRole('button', { name: 'Edit and run again' }).last().click()
    const editor = page.getByLabel('Code of the cell')
    await editor.fill('print("now", first_va')
    await editor.press('End')
    await editor.press('Control+Space')
    await expect.poll(() => editor.inputValue(), { timeout: RUN_MS }).toBe('print("now", first_value')
    await editor.pressSequentially(')')
    await editor.press('Shift+Enter')
    await page.getByText('now 1').waitFor()
    await isIdle(page)
    await page.getByRole('button', { name: 'Actions for this chat' }).click()
    await page.getByRole('menuitem', { name: 'Run all cells' }).click()
    await isIdle(page)
    expect(await done(page).count()).toBe(2)
    const api = server.as(server.apiKey)
    const { data } = await api.json<{ data: { x_cellblock: { container_id: string } }[] }>('GET', '/v1/conversations?limit=1')
    const form = new FormData()
    form.append('file', new Blob(['a\n1\n']), 'by-api.csv')
    const path = `${server.url}/v1/containers/${data[0]?.x_cellblock.container_id}/files`
    expect((await fetch(path, { method: 'POST', headers: { authorization: `Bearer ${server.apiKey}` }, body: form })).status).toBe(200)
    await page.getByRole('complementary', { name: 'Files' }).getByRole('button', { name: 'by-api.csv', exact: true }).waitFor()
  },
  3 * RUN_MS,
)
