import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { LocalServerProcess } from '../support/local-server.ts'
import { askToRun, isIdle, openPage, RUN_MS, runCell, startBrowser, startPageServer } from './harness/browser.ts'

let browser: Browser
beforeAll(async () => {
  browser = await startBrowser()
})
afterAll(() => browser.close())

const done = (page: Page) => page.getByRole('region', { name: 'Code cell: Done' })
const idOf = (page: Page): string => new URL(page.url()).pathname.split('/').at(-1) ?? ''

async function runAndWait(page: Page, code: string, printed: string): Promise<void> {
  await runCell(page, code)
  await done(page).getByText(printed, { exact: true }).waitFor()
  await isIdle(page)
}

describe('a chat that is open here', () => {
  let server: LocalServerProcess
  beforeAll(async () => {
    server = await startPageServer()
  })
  afterAll(() => server.stop())

  const remove = async (path: string): Promise<void> => {
    expect((await server.native.call('DELETE', path)).status).toBe(200)
  }

  it(
    'continues as a new one after it was deleted on another device, for code and for a question',
    async () => {
      const { page } = await openPage(browser, server)
      await runAndWait(page, 'kept = 41\nprint("first")', 'first')
      const first = idOf(page)
      await remove(`/v1/conversations/${first}`)
      await runAndWait(page, 'print("sum", kept + 1)', 'sum 42')
      const line = page.getByText('This chat was deleted in another tab or device.')
      await line.waitFor()
      const second = idOf(page)
      expect(second).toMatch(/^conv_/)
      expect(second).not.toBe(first)
      await page.reload()
      await done(page).getByText('sum 42', { exact: true }).waitFor()
      await line.waitFor()
      await isIdle(page)
      await remove(`/v1/conversations/${second}`)
      await page.getByRole('button', { name: 'Ask', exact: true }).click()
      await askToRun(page, 'print("asked", kept)')
      await page.getByText('asked 41').first().waitFor()
      await isIdle(page)
      await page.reload()
      await page.getByText('asked 41').first().waitFor()
      expect(await page.getByText('No conversation').count()).toBe(0)
    },
    3 * RUN_MS,
  )

  it(
    'gets a new container for a question and for a file when its own was deleted',
    async () => {
      const { page } = await openPage(browser, server)
      await runAndWait(page, 'print("before")', 'before')
      const containerOf = async (): Promise<string> => {
        const found = await server.native.json<{ x_cellblock: { container_id: string } }>('GET', `/v1/conversations/${idOf(page)}`)
        return found.x_cellblock.container_id
      }
      await remove(`/v1/containers/${await containerOf()}`)
      await page.getByRole('button', { name: 'Ask', exact: true }).click()
      await askToRun(page, 'print("after")')
      await page.getByText('after', { exact: true }).first().waitFor()
      const line = page.getByText('The container of this chat was deleted')
      await line.waitFor()
      await isIdle(page)
      await remove(`/v1/containers/${await containerOf()}`)
      await page.locator('input[type=file]').setInputFiles({ name: 'again.csv', mimeType: 'text/csv', buffer: Buffer.from('a\n1\n') })
      await page.getByRole('complementary', { name: 'Files' }).getByText('again.csv', { exact: true }).waitFor()
      await expect.poll(() => line.count()).toBe(2)
      expect(await page.locator('.attachment.failed').count()).toBe(0)
    },
    3 * RUN_MS,
  )
})

it(
  'a restored backup has its chats with their files, and names a later chat as missing',
  async () => {
    const folder = await mkdtemp(join(tmpdir(), 'cellblock-restored-'))
    const backup = join(folder, 'backup')
    const first = await startPageServer({ dataDir: join(folder, 'data') })
    const { page, context } = await openPage(browser, first)
    await runAndWait(page, '# before the backup\nopen("kept.txt", "w").write("text")\nprint("saved")', 'saved')
    const env = { ...process.env, PORT: new URL(first.url).port, TABLE_NAME: '' }
    await promisify(execFile)(process.execPath, ['--disable-warning=ExperimentalWarning', 'scripts/cli/main.ts', 'backup', backup], { env })
    await page.getByRole('button', { name: 'New chat' }).click()
    await runAndWait(page, '# after the backup\nprint("later")', 'later')
    const { pathname } = new URL(page.url())
    await first.stop()
    const second = await startPageServer({ dataDir: backup })
    try {
      const restored = await context.newPage()
      restored.setDefaultTimeout(RUN_MS)
      await restored.goto(second.url + pathname)
      const missing = restored.getByText('This chat does not exist here')
      // A backup has no secret of sessions.
      await missing.or(restored.getByLabel('API key')).waitFor()
      if ((await missing.count()) === 0) {
        await restored.getByLabel('API key').fill(second.apiKey)
        await restored.getByRole('button', { name: 'Sign in' }).click()
        await missing.waitFor()
      }
      const chats = restored.getByRole('navigation', { name: 'Chats' })
      await chats.getByRole('link', { name: '# before the backup' }).click()
      await done(restored).getByText('saved', { exact: true }).waitFor()
      expect(await chats.getByRole('link', { name: '# after the backup' }).count()).toBe(0)
      await runAndWait(restored, 'print("read", open("kept.txt").read())', 'read text')
    } finally {
      await second.stop()
      await context.close()
      await rm(folder, { recursive: true, force: true })
    }
  },
  4 * RUN_MS,
)
