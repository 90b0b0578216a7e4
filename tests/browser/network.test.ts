import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, inject, it } from 'vitest'
import type { LocalServerProcess } from '../support/local-server.ts'
import { internetAuthority, startMirror, type Mirror } from '../support/mirror.ts'
import { ensureNetworkClientsImage } from '../support/network-clients-image.ts'
import { axeFindings, isIdle, openPage, picture, RUN_MS, runCell, startBrowser, startPageServer } from './harness/browser.ts'

const ADMIN = 'ak_test_0123456789abcdef0123456789'
/** In the default, in the ceiling only, in neither. */
const [OWN, MORE, OTHER] = ['own.example.com', 'more.example.com', 'other.example.com'] as const
const ASK = `
import urllib.request
for host in (${[OWN, MORE, OTHER].map((host) => JSON.stringify(host)).join(', ')}):
    try:
        print(host, urllib.request.urlopen(f"https://{host}/x", timeout=60).status)
    except OSError as error:
        print(host, "failed")`

let folder: string
let mirror: Mirror
let server: LocalServerProcess
let browser: Browser
let apiKey: string

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'cellblock-network-page-'))
  await writeFile(join(folder, 'ca.pem'), (await internetAuthority()).certificate)
  mirror = await startMirror([OWN, MORE, OTHER], (_, response) => response.end('reached'))
  const env = {
    CELLBLOCK_SANDBOX_IMAGE: await ensureNetworkClientsImage(inject('sandboxImage')),
    CELLBLOCK_ADMIN_KEY: ADMIN,
    CELLBLOCK_NETWORK: 'on',
    CELLBLOCK_NETWORK_CA: join(folder, 'ca.pem'),
    CELLBLOCK_NETWORK_PRIVATE_HOSTS: [OWN, MORE, OTHER].map((host) => `${host}=127.0.0.1:${mirror.port}`).join(','),
  }
  ;[browser, server] = await Promise.all([startBrowser(), startPageServer({ env })])
  const admin = server.as(ADMIN)
  const tenant = await admin.json<{ id: string }>('POST', '/v1/admin/tenants', {
    name: 'Networked',
    network: { ceiling: { allow: [{ host: OWN }, { host: MORE }] }, default: { allow: [{ host: OWN }] } },
  })
  apiKey = (await admin.json<{ api_key: string }>('POST', `/v1/admin/tenants/${tenant.id}/keys`, { name: 'page' })).api_key
})
afterAll(async () => {
  await browser?.close()
  await server?.stop()
  await mirror?.[Symbol.asyncDispose]()
  await rm(folder, { recursive: true, force: true })
})

it(
  'shows the requests of a chat, says how to get a refused host, and lets the operator allow it',
  async () => {
    const { page, problems } = await openPage(browser, { url: server.url, apiKey })
    await runCell(page, ASK)
    await page.getByRole('list', { name: 'Not kept' }).getByText(`request to ${OTHER}`).waitFor()
    await page.getByRole('button', { name: 'Show the network' }).first().click()
    const panel = page.getByRole('region', { name: 'Network' })
    await panel.getByText('3 requests, 2 refused').waitFor()
    await panel.getByText(`The code of this chat may reach: ${OWN}.`).waitFor()
    expect(await panel.getByRole('row', { name: new RegExp(OWN) }).textContent()).toContain('200')
    await panel.getByRole('button', { name: `Copy a request to allow ${OTHER}` }).waitFor()
    expect(await axeFindings(page)).toEqual([])
    await picture(page, 'network')

    await panel.getByRole('button', { name: `Allow ${MORE} in this chat` }).click()
    await panel.getByRole('button', { name: `Code of this chat can send data to ${MORE}. Allow it?` }).click()
    await panel.getByText(`The code of this chat may reach: ${OWN}, ${MORE}.`).waitFor()
    await isIdle(page)
    await runCell(page, ASK)
    await page.getByText(`${MORE} 200`).waitFor()
    await panel.getByText('6 requests, 3 refused').waitFor()

    const { page: operator, problems: others } = await openAdministration()
    await operator.getByRole('button', { name: 'Networked' }).click()
    const network = operator.getByRole('region', { name: 'Network' })
    await network.getByText(`Its containers may reach at most: ${OWN}, ${MORE}.`).waitFor()
    expect(await network.getByRole('row', { name: new RegExp(`^${MORE}`) }).textContent()).toContain('allowed to the account')
    expect(await axeFindings(operator)).toEqual([])
    await network.getByRole('button', { name: `Allow ${OTHER}` }).click()
    expect(await axeFindings(operator)).toEqual([])
    await network.getByRole('button', { name: `Code can send data there. Allow? ${OTHER}` }).click()
    await network.getByText(`Its containers may reach at most: ${OWN}, ${MORE}, ${OTHER}.`).waitFor()

    // Changes of a tenant apply within ten seconds.
    const offered = async (): Promise<number> => {
      await panel.getByRole('button', { name: 'Read the requests again' }).click()
      return panel.getByRole('button', { name: `Allow ${OTHER} in this chat` }).count()
    }
    await expect.poll(offered, { timeout: RUN_MS, interval: 1_000 }).toBe(1)
    expect([...problems, ...others]).toEqual([])
  },
  3 * RUN_MS,
)

async function openAdministration() {
  const page = await (await browser.newContext()).newPage()
  page.setDefaultTimeout(RUN_MS)
  const problems: string[] = []
  page.on('pageerror', (error) => problems.push(error.message))
  await page.goto(server.url)
  await page.getByLabel('API key').fill(ADMIN)
  await page.getByRole('button', { name: 'Sign in' }).click()
  return { page, problems }
}
