import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { LocalServerProcess } from '../support/local-server.ts'
import { axeFindings, isIdle, openPage, picture, RUN_MS, runCell, startBrowser, startPageServer } from './harness/browser.ts'

const ADMIN_KEY = 'ck_admin_0123456789abcdef0123456789'

let server: LocalServerProcess
let browser: Browser
beforeAll(async () => {
  ;[server, browser] = await Promise.all([startPageServer({ env: { CELLBLOCK_ADMIN_KEY: ADMIN_KEY } }), startBrowser()])
})
afterAll(async () => {
  await browser.close()
  await server.stop()
})

/** One output of each kind, as libraries send them. */
const SHOW = `from IPython.display import HTML, JSON, Latex, Markdown, SVG, display
import math, pandas as pd
x = [i / 10 for i in range(121)]
wave = [math.exp(-v / 4) * math.cos(3 * v) for v in x]
display({"application/vnd.plotly.v1+json": {"data": [{"x": x, "y": wave, "type": "scatter"}], "layout": {"title": {"text": "Damped wave"}}}}, raw=True)
display({"application/vnd.vegalite.v5+json": {"$schema": "https://vega.github.io/schema/vega-lite/v5.json", "width": 420, "height": 180,
  "data": {"values": [{"month": m, "total": t} for m, t in zip(["Jan", "Feb", "Mar", "Apr"], [3, 5, 4, 7])]},
  "mark": "bar", "encoding": {"x": {"field": "month", "type": "ordinal", "sort": None}, "y": {"field": "total", "type": "quantitative"}}}}, raw=True)
display(Latex(r"$$\\int_{-\\infty}^{\\infty} e^{-x^2}\\,dx = \\sqrt{\\pi}$$"))
display(SVG("<svg xmlns='http://www.w3.org/2000/svg' width='220' height='60'><circle cx='30' cy='30' r='24' fill='#3b55d9'/><circle cx='90' cy='30' r='24' fill='#1b7a4b'/></svg>"))
display(HTML("<style>.hot { color: #b3261e; font-weight: 600 }</style><table><tr><th>city</th><th>°C</th></tr><tr><td>Bonn</td><td class='hot'>31</td></tr></table>"))
display(Markdown("**Result:** the total grows by *12 %*."))
display(JSON({"sandbox": {"network": False}, "numbers": [1, 2, 3]}))
display(pd.DataFrame({"n": range(1, 26), "square": [n * n for n in range(1, 26)]}))
`

it(
  'draws Plotly, Vega, LaTeX, SVG, HTML, Markdown, JSON and tables',
  async () => {
    const { page, problems } = await openPage(browser, server, { viewport: { width: 1280, height: 2200 } })
    await runCell(page, SHOW)
    await page.getByRole('region', { name: 'Code cell: Done' }).waitFor()
    await isIdle(page)
    const frame = (title: string, at = 0) => page.frameLocator(`iframe[title="${title}"] >> nth=${at}`)
    await frame('Interactive chart').locator('.scatterlayer path.js-line').waitFor()
    expect(await frame('Interactive chart', 1).locator('svg.marks path[aria-roledescription="bar"]').count()).toBe(4)
    await page.locator('.latex .katex').waitFor()
    expect(await page.locator('.picture img').evaluate((image: HTMLImageElement) => image.naturalWidth)).toBe(220)
    expect(
      await frame('HTML output')
        .locator('.hot')
        .evaluate((cell) => getComputedStyle(cell).color),
    ).toBe('rgb(179, 38, 30)')
    expect(await page.locator('.markdown strong').last().textContent()).toBe('Result:')
    await page.locator('.json-branch').getByText('false').waitFor()
    await page.getByText('First 20 of 25 rows').waitFor()
    await picture(page, 'outputs')
    expect(await axeFindings(page)).toEqual([])
    // Charts that chose no colours follow the theme of the page.
    for (const theme of ['system', 'light']) {
      await page.getByRole('button', { name: 'Settings', exact: true }).click()
      await page.getByRole('menuitem', { name: `Theme: ${theme}` }).click()
    }
    const title = frame('Interactive chart').locator('.gtitle')
    await expect.poll(() => title.evaluate((text) => getComputedStyle(text).fill)).toBe('rgb(231, 234, 242)')
    const label = frame('Interactive chart', 1).locator('svg.marks .role-axis-label text').first()
    await expect.poll(() => label.getAttribute('fill')).toBe('#e7eaf2')
    expect(problems).toEqual([])
  },
  2 * RUN_MS,
)

it('shows tenants, keys and usage to a key for administration', async () => {
  const page = await (await browser.newContext({ viewport: { width: 1280, height: 860 } })).newPage()
  await page.goto(server.url)
  await page.getByLabel('API key').fill(ADMIN_KEY)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByLabel('Name of the new tenant').fill('Team Blue')
  await page.getByRole('button', { name: 'New tenant: Create' }).click()
  await page.getByRole('heading', { name: 'Team Blue' }).waitFor()
  await page.getByLabel('Name of the new key').fill('notebooks')
  await page.getByRole('button', { name: 'New key: Create' }).click()
  const made = (await page.getByText('Copy the new key now').locator('code').textContent()) ?? ''
  const client = server.as(made)
  const container = await client.createContainer()
  expect(await client.run(container, 'print(1)')).toMatchObject({ status: 'succeeded' })
  expect((await client.call('DELETE', '/v1/containers/cntr_00000000000000000000000000')).status).toBe(404)
  // The log of a tenant is written once a second.
  const admin = server.as(ADMIN_KEY)
  const { data } = await admin.json<{ readonly data: readonly { readonly id: string; readonly name: string }[] }>(
    'GET',
    '/v1/admin/tenants',
  )
  const auditPath = `/v1/admin/tenants/${data.find(({ name }) => name === 'Team Blue')?.id ?? ''}/audit`
  await expect.poll(async () => (await admin.call('GET', auditPath)).text(), { timeout: RUN_MS }).toContain('deleteContainer')
  await page.getByRole('navigation', { name: 'Tenants' }).getByRole('button', { name: 'Team Blue' }).click()
  await page.getByRole('button', { name: 'Executions 1', exact: true }).waitFor()
  const errors = page.getByRole('region', { name: 'Recent errors' })
  expect(await errors.getByRole('row').allTextContents()).toEqual([
    expect.anything(),
    expect.stringContaining('deleteContainer404notebooks'),
  ])
  await page.getByRole('region', { name: 'Audit' }).getByRole('cell', { name: 'runCode' }).waitFor()
  // That code ran and how it ended, without the code.
  const runs = page.getByRole('region', { name: 'Runs' })
  await runs.getByRole('row', { name: /Python Done .* exec_/ }).waitFor()
  await runs.getByLabel('Only failed ones').check()
  await runs.getByText('None of the newest runs failed.').waitFor()
  await page.getByRole('heading', { name: /^Usage from/ }).scrollIntoViewIfNeeded()
  await picture(page, 'admin')
  // A revoked key works never again, so the first click only asks.
  await page.getByRole('button', { name: 'Revoke notebooks' }).click()
  await page.getByRole('button', { name: 'Revoke permanently? notebooks' }).click()
  await page.getByText(/^revoked /).waitFor()
  await expect.poll(async () => (await client.call('GET', '/v1/limits')).status).toBe(401)
  await page.getByLabel('Name of the new key').fill('guest')
  await page.getByLabel('End user of the new key').fill('ann')
  await page.getByRole('group', { name: 'Scopes of the new key' }).getByLabel('share').uncheck()
  await page.getByLabel('Expires').selectOption({ label: 'in 7 days' })
  await page.getByRole('button', { name: 'New key: Create' }).click()
  await page
    .getByRole('region', { name: 'API keys' })
    .getByRole('row', { name: /^guest ann run, read, files never Revoke guest until 20/ })
    .waitFor()
  const queued = page.getByRole('listitem').filter({ has: page.getByRole('meter', { name: 'Used: queued jobs' }) })
  await queued.getByRole('textbox', { name: 'queued jobs' }).fill('50')
  await page.keyboard.press('Enter')
  await expect.poll(() => queued.getByRole('meter').getAttribute('max')).toBe('50')
  await page.getByLabel('Filter the audit').fill('createKey')
  await page.getByRole('region', { name: 'Audit' }).getByRole('cell', { name: 'createKey' }).first().waitFor()
  expect(await page.getByRole('region', { name: 'Audit' }).getByRole('cell', { name: 'runCode' }).count()).toBe(0)
  await page.getByText(/^\d+ limits$/).click()
  await page.getByLabel('processes', { exact: true }).fill('64')
  await page.keyboard.press('Enter')
  await page
    .getByRole('row', { name: /^processes/ })
    .getByText('tenant')
    .waitFor()
  await page.getByRole('button', { name: 'Server', exact: true }).click()
  await page.getByText('Warm sandboxes').waitFor()
  // Nothing brings a tenant back, so its name must be typed.
  await page.getByRole('navigation', { name: 'Tenants' }).getByRole('button', { name: 'Team Blue' }).click()
  const remove = page.getByRole('button', { name: 'Delete permanently' })
  expect(await remove.isDisabled()).toBe(true)
  await page.getByLabel('Type Team Blue to delete the tenant').fill('Team Blue')
  await remove.click()
  await expect.poll(() => page.getByRole('navigation', { name: 'Tenants' }).getByText('Team Blue').count()).toBe(0)
})
