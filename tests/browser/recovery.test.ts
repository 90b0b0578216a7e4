import { mkdtemp, rm } from 'node:fs/promises'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { runCommand } from '../../scripts/setup/command.ts'
import { askToRun, isIdle, openPage, RUN_MS, runCell, startBrowser, startPageServer } from './harness/browser.ts'

let browser: Browser
beforeAll(async () => {
  browser = await startBrowser()
})
afterAll(() => browser.close())

/** The number of sandboxes of a server on the engine. */
async function sandboxesOf(stage: string): Promise<number> {
  const { stdout } = await runCommand('docker', ['ps', '-aq', '--filter', `label=cellblock.stage=${stage}`])
  return stdout.split('\n').filter(Boolean).length
}

/** A port that forwards to a server, can cut every connection, and can lead to another server. */
async function openProxy(): Promise<{ readonly url: string; to(url: string): void; cut(): void; close(): void }> {
  const open = new Set<Socket>()
  let target = 0
  const proxy = createServer((client) => {
    const upstream = connect(target, '127.0.0.1')
    for (const socket of [client, upstream]) {
      open.add(socket)
      socket.on('error', () => undefined)
      socket.on('close', () => (open.delete(socket), client.destroy(), upstream.destroy()))
    }
    client.pipe(upstream).pipe(client)
  })
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
  const cut = (): void => {
    for (const socket of open) socket.destroy()
  }
  return {
    url: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`,
    to: (url) => (target = Number(new URL(url).port)),
    cut,
    close: () => (proxy.close(), cut()),
  }
}

it(
  'follows a turn through a broken stream and a restart of the server, without losing or repeating text',
  async () => {
    const dataDir = await mkdtemp(join(tmpdir(), 'cellblock-browser-'))
    const proxy = await openProxy()
    const first = await startPageServer({ dataDir })
    proxy.to(first.url)
    const { page } = await openPage(browser, { url: proxy.url, apiKey: first.apiKey })
    await askToRun(page, 'import time\nfor i in range(12):\n    print(f"line {i};", flush=True)\n    time.sleep(1)')
    const cell = page.getByRole('region', { name: /^Code cell/ })
    await cell.getByText('line 1;').waitFor()
    proxy.cut()
    await cell.getByText('line 3;').waitFor()
    await first.kill()
    proxy.cut()
    await page.getByText('Connection lost. Reconnecting …').waitFor()
    const second = await startPageServer({ dataDir })
    try {
      proxy.to(second.url)
      await page.getByRole('region', { name: 'Code cell: Done' }).waitFor()
      await isIdle(page)
      const printed = (await page.locator('.outputs .stdout').first().textContent()) ?? ''
      expect(printed.trim().split('\n')).toEqual(Array.from({ length: 12 }, (_, i) => `line ${i};`))
    } finally {
      await second.stop()
      proxy.close()
      await rm(dataDir, { recursive: true, force: true })
    }
  },
  4 * RUN_MS,
)

it(
  'continues in a container that hibernated, with its variables and files',
  async () => {
    const server = await startPageServer({ env: { CELLBLOCK_IDLE_SECONDS: '2', CELLBLOCK_POOL: '0' } })
    try {
      const { page } = await openPage(browser, server)
      const cells = page.getByRole('region', { name: 'Code cell: Done' })
      await runCell(page, 'kept = 41\nopen("kept.txt", "w").write("text")')
      await cells.first().waitFor()
      await isIdle(page)
      // Without a warm pool, the last sandbox ends when its container hibernates.
      await expect.poll(() => sandboxesOf(server.stage), { timeout: RUN_MS }).toBe(0)
      await runCell(page, 'print(kept + 1, open("kept.txt").read())')
      await page.getByText('42 text').waitFor()
      await isIdle(page)
    } finally {
      await server.stop()
    }
  },
  4 * RUN_MS,
)
