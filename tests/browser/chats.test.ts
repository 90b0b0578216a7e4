import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { LocalServerProcess } from '../support/local-server.ts'
import { startScriptedUpstream, type ScriptedUpstream } from '../support/scripted-upstream.ts'
import { askToRun, isIdle, openPage, RUN_MS, runCell, startBrowser, startPageServer } from './harness/browser.ts'

let server: LocalServerProcess
let browser: Browser
let upstream: ScriptedUpstream
beforeAll(async () => {
  ;[browser, upstream] = await Promise.all([startBrowser(), startScriptedUpstream()])
  const model = { name: 'scripted', base_url: upstream.baseUrl, model: 'x', context_window: 32_768, tool_calls: 'native' }
  server = await startPageServer({ env: { CELLBLOCK_MODELS: JSON.stringify([model]), CELLBLOCK_SCRIPTED_KEY: 'x' } })
})
afterAll(async () => {
  await browser.close()
  await server.stop()
  await upstream.stop()
})

const chatList = (page: Page) => page.getByRole('navigation', { name: 'Chats' })
const chatLink = (page: Page, title: string) => chatList(page).getByRole('link', { name: title, exact: true })
const cells = (page: Page, state: string) => page.getByRole('region', { name: `Code cell: ${state}` })

/** Runs a cell that names its chat, and waits for the chat in the list. */
async function chatNamed(page: Page, title: string): Promise<void> {
  await runCell(page, `# ${title}\nprint("out of ${title}")`)
  await cells(page, 'Done').getByText(`out of ${title}`).first().waitFor()
  await isIdle(page)
  await chatLink(page, `# ${title}`).waitFor()
}

describe('the list of chats', () => {
  it(
    'is the same in two tabs and in another browser, and a chat is read there whole',
    async () => {
      const { page: first, context } = await openPage(browser, server)
      const second = await context.newPage()
      await second.goto(server.url)
      await second.getByRole('heading', { name: 'Ask, and watch the code run' }).waitFor()
      await chatNamed(second, 'two-tabs-b')
      await chatNamed(first, 'two-tabs-a')
      await first.reload()
      for (const title of ['# two-tabs-a', '# two-tabs-b']) await chatLink(first, title).waitFor()
      const { page: phone } = await openPage(browser, server, { viewport: { width: 390, height: 780 } })
      await phone.getByRole('button', { name: 'Chats', exact: true }).click()
      await chatLink(phone, '# two-tabs-b').click()
      await cells(phone, 'Done').getByText('out of two-tabs-b').first().waitFor()
    },
    3 * RUN_MS,
  )

  it(
    'has an address and a tab title for each chat, and Back returns to the one before',
    async () => {
      const { page } = await openPage(browser, server)
      await chatNamed(page, 'address-a')
      expect(new URL(page.url()).pathname).toMatch(/^\/chat\/conv_/)
      const address = page.url()
      await page.getByRole('button', { name: 'New chat' }).click()
      await chatNamed(page, 'address-b')
      await expect.poll(() => page.title()).toContain('# address-b')
      await page.goBack()
      await page.getByRole('heading', { name: '# address-a' }).waitFor()
      expect(page.url()).toBe(address)
      await page.goto(`${server.url}/chat/conv_01kajv9h2s8p0ww3d4dq4cs1zt`)
      await page.getByText('This chat does not exist here').waitFor()
      expect(new URL(page.url()).pathname).toBe('/')
    },
    2 * RUN_MS,
  )

  it(
    'is searched; a chat is renamed, archived, and deleted with undo',
    async () => {
      const { page, context } = await openPage(browser, server)
      await chatNamed(page, 'manage-me')
      const act = async (title: string, name: string): Promise<void> => {
        await chatList(page)
          .getByRole('button', { name: `Actions for ${title}` })
          .click()
        await page.getByRole('menuitem', { name }).click()
      }
      await act('# manage-me', 'Rename')
      await page.getByLabel('Title of the chat').fill('Renamed chat')
      await page.keyboard.press('Enter')
      await page.getByRole('heading', { name: 'Renamed chat' }).waitFor()
      await page.getByLabel('Search chats').fill('NAMED CH')
      await expect.poll(() => chatList(page).getByRole('link', { name: /chat$/ }).allTextContents()).toEqual(['Renamed chat'])
      await page.getByLabel('Search chats').fill('')
      await act('Renamed chat', 'Archive')
      await chatLink(page, 'Renamed chat').waitFor({ state: 'detached' })
      await page.getByRole('button', { name: 'Archived chats' }).click()
      await act('Renamed chat', 'Move back to the chats')
      await page.getByRole('button', { name: 'Back to the chats' }).click()
      await act('Renamed chat', 'Delete')
      await chatLink(page, 'Renamed chat').waitFor({ state: 'detached' })
      await page.getByRole('button', { name: 'Undo' }).click()
      await chatLink(page, 'Renamed chat').waitFor()
      await cells(page, 'Done').getByText('out of manage-me').first().waitFor()
      await act('Renamed chat', 'Delete')
      // Closing the page ends the time for the undo.
      await page.close()
      const next = await context.newPage()
      await next.goto(server.url)
      await next.getByRole('link', { name: 'Guide' }).waitFor()
      await expect.poll(() => chatList(next).getByRole('link', { name: 'Renamed chat' }).count()).toBe(0)
    },
    2 * RUN_MS,
  )

  it(
    'shows the next person at the browser nothing of the one before',
    async () => {
      const { page } = await openPage(browser, server)
      await chatNamed(page, 'private-title')
      await page.getByLabel('Python code').fill('private_draft = 1')
      await page.getByRole('button', { name: 'Settings', exact: true }).click()
      await page.getByRole('menuitem', { name: 'Sign out' }).click()
      await page.getByLabel('API key').waitFor()
      const kept = await page.evaluate('JSON.stringify({ ...localStorage, ...sessionStorage })')
      expect(kept).not.toMatch(/private|conv_|cntr_/)
      const other = await otherTenantKey()
      await page.getByLabel('API key').fill(other)
      await page.getByRole('button', { name: 'Sign in' }).click()
      await page.getByText('Your chats will be here.').waitFor()
      expect(await page.locator('body').textContent()).not.toContain('private-title')
      expect(await page.getByLabel('Python code').inputValue()).toBe('')
    },
    2 * RUN_MS,
  )
})

/** The key of a second tenant of the same server. */
async function otherTenantKey(): Promise<string> {
  const args = ['--disable-warning=ExperimentalWarning', 'scripts/cli/main.ts', 'tenants', 'create', 'other', '--json']
  const env = { ...process.env, PORT: new URL(server.url).port, TABLE_NAME: '' }
  const { stdout } = await promisify(execFile)(process.execPath, args, { env })
  return (JSON.parse(stdout) as { readonly api_key: string }).api_key
}

describe('a chat', () => {
  it(
    'outlives its container, with one line that says what is gone',
    async () => {
      const { page } = await openPage(browser, server)
      await runCell(page, 'print("before")')
      await cells(page, 'Done').getByText('before', { exact: true }).waitFor()
      await isIdle(page)
      const id = new URL(page.url()).pathname.split('/').at(-1) ?? ''
      const key = { headers: { authorization: `Bearer ${server.apiKey}` } }
      const found = (await (await fetch(`${server.url}/v1/conversations/${id}`, key)).json()) as {
        readonly x_cellblock: { readonly container_id: string }
      }
      await fetch(`${server.url}/v1/containers/${found.x_cellblock.container_id}`, { method: 'DELETE', ...key })
      await runCell(page, 'print("after")')
      await cells(page, 'Done').getByText('after', { exact: true }).waitFor()
      await page.getByText('The container of this chat was deleted').waitFor()
      await isIdle(page)
      await page.reload()
      await cells(page, 'Done').getByText('after', { exact: true }).waitFor()
      expect(await page.getByText('The container of this chat was deleted').count()).toBe(1)
    },
    2 * RUN_MS,
  )

  it(
    'shows failed, refused and stopped runs as they were after a reload',
    async () => {
      const { page } = await openPage(browser, server)
      await runCell(page, '1/0')
      await cells(page, 'Failed').waitFor()
      await isIdle(page)
      // The page offers no language that the image lacks, so the request asks for one on its way.
      const wanted = { postData: JSON.stringify({ code: 'print(1)', language: 'r' }) }
      await page.route('**/executions?wait=0', (route) => route.continue(wanted), { times: 1 })
      await runCell(page, 'print(1)')
      await page.getByText('has no r').waitFor()
      await isIdle(page)
      await runCell(page, 'import time\nprint("step 14", flush=True)\ntime.sleep(300)')
      await page.locator('.stdout', { hasText: 'step 14' }).waitFor()
      await page.keyboard.press('Escape')
      await cells(page, 'Stopped').waitFor()
      await isIdle(page)
      await page.reload()
      await cells(page, 'Failed').first().getByText('ZeroDivisionError').first().waitFor()
      expect(await cells(page, 'Failed').count()).toBe(2)
      await page.getByText('has no r').waitFor()
      await cells(page, 'Stopped').locator('.stdout', { hasText: 'step 14' }).waitFor()
    },
    2 * RUN_MS,
  )

  it(
    'keeps a question that the model refused, and the output of a stopped turn, with Try again',
    async () => {
      const { page } = await openPage(browser, server)
      upstream.play(() => ({ deltas: [], status: 401, error: { message: 'Incorrect API key provided.' } }))
      await page.getByLabel('Model').selectOption('scripted')
      await page.getByLabel('Message').fill('A question that is refused')
      await page.keyboard.press('Enter')
      await page.getByRole('button', { name: 'Try again' }).waitFor()
      await page.reload()
      await page.getByText('A question that is refused').last().waitFor()
      await page.getByRole('button', { name: 'Try again' }).waitFor()
      await page.getByLabel('Model').selectOption('demo')
      await askToRun(page, 'import time\nprint("shown 7", flush=True)\ntime.sleep(300)', 'Then this')
      await page.locator('.stdout', { hasText: 'shown 7' }).waitFor()
      await page.getByRole('button', { name: 'Stop' }).click()
      await page.getByText('Stopped before the end.').waitFor()
      await isIdle(page)
      await page.reload()
      await page.locator('.stdout', { hasText: 'shown 7' }).waitFor()
      await page.getByText('Stopped before the end.').waitFor()
      expect(await page.getByRole('button', { name: 'Try again' }).count()).toBe(2)
      const said = await page.getByRole('article', { name: 'You' }).allTextContents()
      expect(said.map((text) => text.slice(0, 4))).toEqual(['A qu', 'Then'])
    },
    2 * RUN_MS,
  )
})

it(
  'begins clean on the second day, when the server has forgotten everything',
  async () => {
    const first = await startPageServer()
    const { page } = await openPage(browser, first)
    await chatNamed(page, 'yesterday')
    const state = await page.context().storageState()
    const { pathname } = new URL(page.url())
    await first.stop()
    const second = await startPageServer()
    try {
      const context = await browser.newContext({
        storageState: { ...state, origins: state.origins.map((one) => ({ ...one, origin: second.url })) },
      })
      const next = await context.newPage()
      next.setDefaultTimeout(RUN_MS)
      await next.goto(second.url + pathname)
      await next.getByLabel('API key').fill(second.apiKey)
      await next.getByRole('button', { name: 'Sign in' }).click()
      await next.getByText('This chat does not exist here').waitFor()
      await chatNamed(next, 'today')
      expect(await chatList(next).getByText('yesterday').count()).toBe(0)
    } finally {
      await second.stop()
    }
  },
  3 * RUN_MS,
)
