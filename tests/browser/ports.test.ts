import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, inject, it } from 'vitest'
import type { LocalServerProcess } from '../support/local-server.ts'
import { ensureNetworkClientsImage } from '../support/network-clients-image.ts'
import { axeFindings, isIdle, openPage, picture, RUN_MS, runCell, startBrowser, startPageServer } from './harness/browser.ts'

const PORT = 8501

let server: LocalServerProcess
let browser: Browser
beforeAll(async () => {
  const image = await ensureNetworkClientsImage(inject('sandboxImage'))
  ;[browser, server] = await Promise.all([startBrowser(), startPageServer({ env: { CELLBLOCK_SANDBOX_IMAGE: image } })])
})
afterAll(async () => {
  await browser.close()
  await server.stop()
})

/** An app that tries to leave its origin: by cookies of the page's host, by its frame, and by the API. */
const APP = `
import subprocess, textwrap
open("/tmp/app.py", "w").write(textwrap.dedent('''
    import http.server
    PAGE = b"""<!doctype html><title>App</title>
    <style>body { font: 15px system-ui; padding: 8px 24px } meter { width: 320px; height: 20px } td { padding: 4px 12px 4px 0 }</style>
    <h1>From the sandbox</h1><p>A page of a Python program, on its own origin.</p>
    <table><tr><td>Garden<td><meter value=.8></meter><tr><td>Kitchen<td><meter value=.55></meter><tr><td>Office<td><meter value=.3></meter></table>
    <details><summary>What it may not do</summary><p id=result></p></details><script>
    document.cookie = "cellblock_session=evil; domain=localhost"
    document.cookie = "own=1"
    const tries = [
      () => { if (top === self) throw 0; top.location = "/gone" },
      () => { if (top === self) throw 0; return parent.document.title },
      () => { if (document.cookie.includes("cellblock")) throw 0; return document.cookie },
    ].map((attempt) => { try { return String(attempt()) } catch (error) { return "refused" } })
    const api = new URL("/v1/models", "http://localhost:" + location.port)
    fetch(api, { credentials: "include" }).then((answer) => answer.status, () => "refused").then((status) =>
      fetch("/again", { method: "POST" }).then((answer) => answer.text()).then((text) =>
        document.getElementById("result").textContent = [...tries, status, text].join(" ")))
    </script>"""
    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            self.answer(PAGE)
        def do_POST(self):
            self.answer(("cookies " + str(self.headers.get("Cookie"))).encode())
        def answer(self, body):
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.send_header("Set-Cookie", "app=1; Domain=localhost")
            self.end_headers()
            self.wfile.write(body)
        def log_message(self, *args):
            pass
    http.server.ThreadingHTTPServer(("127.0.0.1", ${PORT}), Handler).serve_forever()
'''))
app = subprocess.Popen(["python", "/tmp/app.py"])
import socket, time
for attempt in range(200):
    try:
        socket.create_connection(("127.0.0.1", ${PORT})).close()
        break
    except OSError:
        time.sleep(0.05)
print("listens")`

it(
  'an app of the sandbox is shown in a frame with a separate origin, opens in a tab, and ends with its publication',
  async () => {
    const { page, context, problems } = await openPage(browser, server)
    await runCell(page, APP)
    await page.getByRole('region', { name: 'Code cell: Done' }).getByText('listens').waitFor()
    await isIdle(page)
    await page.getByRole('button', { name: 'Actions for this chat' }).click()
    await page.getByRole('menuitem', { name: 'Preview an app' }).click()
    const panel = page.getByRole('region', { name: 'App', exact: true })
    expect(await panel.getByLabel('Port').inputValue()).toBe(String(PORT))
    expect(await axeFindings(page)).toEqual([])
    await panel.getByRole('button', { name: 'Publish' }).click()
    const frame = page.frameLocator(`iframe[title="App on port ${PORT}"]`)
    await frame.getByRole('heading', { name: 'From the sandbox' }).waitFor()
    // It cannot lead the page elsewhere or read it, sees no cookie of the server, and reads nothing of the API.
    await expect
      .poll(() => frame.locator('#result').textContent())
      .toMatch(/^refused refused \S* refused cookies (?:None|(?!.*cellblock).*)$/)
    expect(await axeFindings(page)).toEqual([])
    await picture(page, 'app')
    expect(problems.filter((text) => !/frame|navigation|navigate|sandbox|CORS|Failed to load/i.test(text))).toEqual([])

    const [tab] = await Promise.all([context.waitForEvent('page'), panel.getByRole('button', { name: 'Open in a tab' }).click()])
    await tab.getByRole('heading', { name: 'From the sandbox' }).waitFor()
    expect(new URL(tab.url()).search).toBe('')
    expect(new URL(tab.url()).hostname).toMatch(/^8501-[0-9a-z]+\.localhost$/)
    await expect.poll(() => tab.locator('#result').textContent()).toContain('refused cookies ')
    expect(await tab.locator('#result').textContent()).not.toContain('cellblock')
    // The session of the page is as it was.
    expect((await context.cookies(server.url)).filter(({ value }) => value === 'evil')).toEqual([])
    await page.reload()
    await page.getByRole('button', { name: 'Actions for this chat' }).waitFor()

    await page.getByRole('button', { name: 'Actions for this chat' }).click()
    await page.getByRole('menuitem', { name: 'Preview an app' }).click()
    await frame.getByRole('heading', { name: 'From the sandbox' }).waitFor()
    await panel.getByRole('button', { name: 'Unpublish' }).click()
    await panel.getByText(`Port ${PORT} is not published any more.`).waitFor()
    await tab.reload()
    await tab.getByRole('heading', { name: 'This port does not answer' }).waitFor()
    await context.close()
  },
  2 * RUN_MS,
)
