import { readFile } from 'node:fs/promises'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { LocalServerProcess } from '../support/local-server.ts'
import { say, startScriptedUpstream, type ScriptedUpstream } from '../support/scripted-upstream.ts'
import { isIdle, openPage, RUN_MS, runCell, startBrowser, startPageServer } from './harness/browser.ts'

/** One red pixel. */
const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg=='

let server: LocalServerProcess
let browser: Browser
let upstream: ScriptedUpstream
beforeAll(async () => {
  ;[browser, upstream] = await Promise.all([startBrowser(), startScriptedUpstream()])
  const model = (name: string) => ({ name, base_url: upstream.baseUrl, model: name, context_window: 32_768, tool_calls: 'native' })
  server = await startPageServer({ env: { CELLBLOCK_MODELS: JSON.stringify([model('first'), model('second')]) } })
})
afterAll(async () => {
  await browser.close()
  await server.stop()
  await upstream.stop()
})

async function ask(page: Page, text: string): Promise<void> {
  await page.getByLabel('Message').fill(text)
  await page.keyboard.press('Enter')
  await isIdle(page)
}

const cells = (page: Page) => page.getByRole('region', { name: 'Code cell: Done' })
const messages = (page: Page, name: string) => page.getByRole('article', { name }).locator('.markdown').allTextContents()
const lastRequest = (): string => JSON.stringify(upstream.requests.at(-1)?.body.messages)

it(
  'are edited and sent again, answered again with another model, copied and exported',
  async () => {
    const { page, context } = await openPage(browser, server)
    await context.grantPermissions(['clipboard-read', 'clipboard-write'])
    let turn = 0
    upstream.play(({ body }) =>
      say(`${body.model} says ${++turn}: the mean is $\\bar{x}$ and it costs $5.\n\n\`\`\`text\nblock ${turn}\n\`\`\``),
    )
    await ask(page, 'Question one')
    await page.getByText('first says 1').waitFor()
    await expect.poll(() => page.locator('.message.answer .katex').count()).toBe(1)
    expect(await page.getByText('it costs $5').count()).toBe(1)
    await ask(page, 'Question <two>')
    await page.getByText('first says 2').waitFor()
    // Nothing of a message is markup.
    expect(await messages(page, 'You')).toEqual(['Question one', 'Question <two>'])
    await page.getByRole('button', { name: 'Answer again with another model' }).last().click()
    await page.getByRole('menuitem', { name: 'second' }).click()
    await page.getByText('second says 3').waitFor()
    await isIdle(page)
    await page.getByRole('button', { name: 'Edit and send again' }).first().click()
    await page.getByLabel('Change the message').fill('Question three')
    await page.getByRole('button', { name: 'Send', exact: true }).first().click()
    await page.getByText('first says 4').waitFor()
    await isIdle(page)
    expect(lastRequest()).not.toContain('Question one')
    await page.reload()
    await page.getByText('first says 4').waitFor()
    expect(await messages(page, 'You')).toEqual(['Question three'])
    const copied = async (label: string): Promise<unknown> => {
      await page.getByRole('button', { name: label }).click()
      return page.evaluate('navigator.clipboard.readText()')
    }
    expect(await copied('Copy the message')).toBe('Question three')
    expect(await copied('Copy the answer')).toContain('first says 4')
    expect(await copied('Copy the block')).toBe('block 4')
    for (const [format, ending, expected] of [
      ['Markdown', 'md', '## You\n\nQuestion three'],
      ['HTML', 'html', 'Question three'],
      ['notebook', 'ipynb', 'Question three'],
    ] as const) {
      const download = page.waitForEvent('download')
      await page.getByRole('button', { name: 'Actions for this chat' }).click()
      await page.getByRole('menuitem', { name: `Export as ${format}` }).click()
      const file = await download
      expect(file.suggestedFilename()).toMatch(new RegExp(`\\.${ending}$`))
      expect(await readFile(await file.path(), 'utf8')).toContain(expected)
    }
  },
  2 * RUN_MS,
)

it(
  'carry their files: a picture reaches the model, and both stay in the message after a reload',
  async () => {
    const { page } = await openPage(browser, server)
    upstream.play(() => say('I see.'))
    await page.locator('input[type=file]').setInputFiles([
      { name: 'dot.png', mimeType: 'image/png', buffer: Buffer.from(PNG, 'base64') },
      { name: 'a.csv', mimeType: 'text/csv', buffer: Buffer.from('a\n1\n') },
    ])
    const chips = page.getByRole('list', { name: 'Attached files' })
    await chips.getByText('4 B').waitFor()
    await ask(page, 'What is in the picture?')
    await page.getByText('I see.').waitFor()
    expect(lastRequest()).toMatch(/image_url.*data:image\/png;base64/)
    await page.reload()
    const sent = page.getByRole('article', { name: 'You' }).getByRole('listitem')
    await sent.first().waitFor()
    expect((await sent.allTextContents()).map((text) => text.trim())).toEqual(['dot.png', 'a.csv'])
    expect(await sent.first().locator('img').count()).toBe(1)
  },
  2 * RUN_MS,
)

it(
  'leave a kernel whose variables are listed and completed, and that restarts without losing files',
  async () => {
    const { page } = await openPage(browser, server)
    await runCell(page, 'open("kept.txt", "w").write("text")\ntotal_price = 42')
    await cells(page).waitFor()
    await isIdle(page)
    await page.getByLabel('Python code').fill('total_p')
    await page.keyboard.press('Control+Space')
    await expect.poll(() => page.getByLabel('Python code').inputValue(), { timeout: RUN_MS }).toBe('total_price')
    await page.getByRole('button', { name: 'Variables', exact: true }).click()
    await page.getByRole('row', { name: /total_price int.*42/ }).waitFor()
    await page.getByRole('button', { name: 'Actions for this chat' }).click()
    await page.getByRole('menuitem', { name: 'Restart Python, keep the files' }).click()
    expect(await page.getByText('Python was restarted').count()).toBe(0)
    await page.getByRole('menuitem', { name: 'All variables will be gone. Restart?' }).click()
    await page.getByText('Python was restarted').waitFor()
    await runCell(page, 'print(open("kept.txt").read(), "total_price" in globals())')
    await page.getByText('text False').waitFor()
  },
  2 * RUN_MS,
)

it(
  'stand beside the files of the container: renamed, deleted with undo, and shown when a terminal makes them',
  async () => {
    const { page } = await openPage(browser, server)
    const files = page.getByRole('complementary', { name: 'Files' })
    await page.locator('input[type=file]').setInputFiles({ name: 'old.csv', mimeType: 'text/csv', buffer: Buffer.from('a\n1\n') })
    const act = async (path: string, name: string): Promise<void> => {
      await files.getByRole('button', { name: `Actions for ${path}` }).click()
      await page.getByRole('menuitem', { name }).click()
    }
    await act('old.csv', 'Rename or move')
    await page.getByLabel('New path of old.csv').fill('folder/new.csv')
    await page.keyboard.press('Enter')
    await files.getByTitle('Preview folder/new.csv').waitFor()
    await act('folder/new.csv', 'Delete')
    await files.getByTitle('Preview folder/new.csv').waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'Undo' }).click()
    await files.getByTitle('Preview folder/new.csv').waitFor()
    await page.getByRole('button', { name: 'Terminal', exact: true }).click()
    const panel = page.getByRole('region', { name: 'Terminal' })
    await panel.getByText('Ctrl+Shift+Escape leaves the terminal').waitFor()
    await panel.frameLocator('iframe').locator('.xterm-rows').getByText('$').first().waitFor()
    await page.keyboard.type('echo made > by-hand.txt\n')
    await files.getByTitle('Preview by-hand.txt').waitFor()
  },
  2 * RUN_MS,
)

it(
  'keeps what is typed while the first file of a new chat makes the server give it an id',
  async () => {
    const { page } = await openPage(browser, server)
    const { promise: typed, resolve: release } = Promise.withResolvers<void>()
    await page.route('**/v1/conversations', async (route) => {
      if (route.request().method() === 'POST') await typed
      await route.continue()
    })
    await page.locator('input[type=file]').setInputFiles({ name: 'early.csv', mimeType: 'text/csv', buffer: Buffer.from('a\n1\n') })
    await page.getByLabel('Message').fill('a question beside a file')
    const isNamed = page.waitForURL(/conv_/)
    release()
    await isNamed
    expect(await page.getByLabel('Message').inputValue()).toBe('a question beside a file')
    expect(await page.getByRole('button', { name: 'Send' }).isEnabled()).toBe(true)
  },
  2 * RUN_MS,
)
