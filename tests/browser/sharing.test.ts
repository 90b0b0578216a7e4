import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { LocalServerProcess } from '../support/local-server.ts'
import { askToRun, axeFindings, isIdle, openPage, RUN_MS, runCell, startBrowser, startPageServer } from './harness/browser.ts'

let server: LocalServerProcess
let browser: Browser
beforeAll(async () => {
  ;[browser, server] = await Promise.all([startBrowser(), startPageServer()])
})
afterAll(async () => {
  await browser.close()
  await server.stop()
})

it(
  'a chat is read by a link without a key, until the link is revoked',
  async () => {
    const { page } = await openPage(browser, server)
    await askToRun(page, 'import pandas\ndisplay(pandas.DataFrame({"city": ["Bonn"]}))', 'Show a city')
    await page.getByRole('cell', { name: 'Bonn' }).waitFor()
    await isIdle(page)
    await runCell(page, 'print("own cell")')
    await page.getByText('own cell', { exact: true }).waitFor()
    await isIdle(page)
    await page.getByRole('button', { name: 'Actions for this chat' }).click()
    await page.getByRole('menuitem', { name: 'Share' }).click()
    await page.getByRole('button', { name: 'Make a link' }).click()
    const address = (await page.getByRole('dialog').getByRole('status').getByRole('link').textContent()) ?? ''
    expect(await axeFindings(page)).toEqual([])
    await page.keyboard.press('Escape')
    await runCell(page, 'print("added later")')
    await page.getByText('added later', { exact: true }).waitFor()
    await isIdle(page)

    const unknown = await browser.newContext()
    const shared = await unknown.newPage()
    const problems: string[] = []
    shared.on('pageerror', (error) => problems.push(error.message))
    await shared.goto(address)
    await shared.getByRole('cell', { name: 'Bonn' }).waitFor()
    await shared.getByText('own cell', { exact: true }).waitFor()
    expect(await shared.getByText('added later').count()).toBe(0)
    expect(await shared.getByRole('textbox').count()).toBe(0)
    for (const name of ['Edit and run again', 'Run again', 'Edit and send again', 'Answer again'])
      expect(await shared.getByRole('button', { name }).count(), name).toBe(0)
    expect(await axeFindings(shared)).toEqual([])
    expect(problems).toEqual([])

    await page.getByRole('button', { name: 'Actions for this chat' }).click()
    await page.getByRole('menuitem', { name: 'Share' }).click()
    // Readers lose the chat for ever, so the first click only asks.
    const revoke = page.getByRole('dialog').getByRole('button', { name: /Revoke/ })
    await revoke.click()
    await page.getByRole('dialog').getByText('Its readers lose the chat. Revoke?').waitFor()
    expect((await fetch(`${server.url}/v1/shares/${address.split('/').at(-1)}`)).status).toBe(200)
    await revoke.click()
    await expect.poll(() => revoke.count()).toBe(0)
    await shared.reload()
    await shared.getByText('This link does not exist, has expired or was revoked').waitFor()
  },
  3 * RUN_MS,
)
