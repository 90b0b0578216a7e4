import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Page } from 'playwright-core'
import type { LocalServerProcess } from '../support/local-server.ts'
import { isIdle, openPage, RUN_MS, runCell, startPageServer } from './harness/browser.ts'
import { countHits, startTripwire, type Tripwire } from './harness/tripwire.ts'
import { CORPUS, FOREIGN, SAMPLE } from './harness/xss-corpus.ts'

/** `npm run test:browser` shows the whole corpus; `npm test` a sample. */
const isWhole = process.env['CELLBLOCK_XSS_CORPUS'] === 'whole'
const payloads = isWhole ? CORPUS : SAMPLE

let server: LocalServerProcess
let tripwire: Tripwire
beforeAll(async () => {
  ;[server, tripwire] = await Promise.all([startPageServer(), startTripwire()])
})
afterAll(async () => {
  await tripwire.close()
  await server.stop()
})

/** Shows every payload in every form of an output, as printed text, as names of columns, keys and files, and as an error. */
const SHOW = `import json
payloads = json.load(open("payloads.json"))
def show(mime, value):
    display({mime: value}, raw=True)
for at in range(0, len(payloads), 8):
    show("text/html", "<hr>".join(f"<div>{p}</div>" for p in payloads[at:at + 8]))
for p in payloads:
    show("text/markdown", p)
    show("image/svg+xml", f"<svg xmlns='http://www.w3.org/2000/svg'>{p}</svg>")
    show("text/latex", p)
    print(p)
for p in payloads[::4]:
    show("text/plain", p)
show("application/json", {p: p for p in payloads})
show("application/vnd.dataresource+json", {"schema": {"fields": [{"name": p} for p in payloads[:30]]}, "data": [{q: p for q in payloads[:30]} for p in payloads]})
show("application/vnd.plotly.v1+json", {"data": [{"x": [1], "y": [1], "text": payloads[:40], "name": payloads[3], "hovertemplate": payloads[4]}], "layout": {"title": {"text": payloads[5]}, "annotations": [{"text": p} for p in payloads[-36:]], "images": [{"source": "https://${FOREIGN}/p.png", "sizex": 1, "sizey": 1}]}})
show("application/vnd.vegalite.v5+json", {"$schema": "https://vega.github.io/schema/vega-lite/v5.json", "data": {"url": "https://${FOREIGN}/p.json"}, "mark": "point", "title": payloads[7]})
show("application/vnd.vegalite.v5+json", {"$schema": "https://vega.github.io/schema/vega-lite/v5.json", "data": {"values": [{"u": "https://${FOREIGN}/p.png", "h": "javascript:window.__hit()"}]}, "mark": {"type": "image"}, "encoding": {"url": {"field": "u"}, "href": {"field": "h"}, "tooltip": {"field": "h"}}})
for at, p in enumerate(payloads[::10]):
    open("/mnt/data/" + p.replace("/", "_").replace("\\0", "")[:60] + str(at), "w").write(p)
for ending in ("html", "md", "svg", "csv", "json", "txt"):
    text = json.dumps(payloads) if ending == "json" else "\\n".join(payloads).replace("\\0", "")
    open(f"/mnt/data/hostile.{ending}", "w").write(f"<svg xmlns='http://www.w3.org/2000/svg'>{text}</svg>" if ending == "svg" else text)
raise type("E" + payloads[-1], (Exception,), {})(payloads[-2])
`

/** Frames load when they come into view; they draw side by side. */
async function showFrames(page: Page): Promise<void> {
  const frames = page.locator('iframe.frame')
  await frames.evaluateAll(async (elements) => {
    const nextPaint = (): Promise<number> => new Promise((resolve) => requestAnimationFrame(resolve))
    for (const element of elements) {
      element.scrollIntoView()
      await nextPaint()
      await nextPaint()
    }
  })
  const drawn = (await frames.all()).map((frame) => frame.contentFrame().locator('body > :not(script)').first())
  await Promise.all(drawn.map((content) => content.waitFor({ state: 'attached' })))
  await page.locator('iframe.frame[src*=plotly]').contentFrame().locator('.annotation').first().waitFor({ state: 'attached' })
}

/** Clicks by script: a search by role reads the names of all elements of this page, which takes seconds. */
async function openPreviews(page: Page): Promise<void> {
  for (const ending of ['html', 'md', 'svg', 'csv', 'json', 'txt']) {
    await page.locator(`button[title="Preview hostile.${ending}"]`).evaluate((button: HTMLElement) => button.click())
    const dialog = page.locator('dialog, [role=dialog]')
    await dialog.locator('.preview-body > :not(p:only-child), .preview-body > img').first().waitFor({ state: 'attached' })
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'detached' })
  }
}

it('detects a payload that runs and one that loads from another host', async () => {
  const page = await tripwire.browser.newPage()
  const hits = await countHits(page)
  const unprotected = createServer((_, answer) =>
    answer.setHeader('content-type', 'text/html').end(`<img src="data:," onerror="window.__hit&&__hit(1)"><img src="http://${FOREIGN}/p">`),
  )
  await new Promise<void>((resolve) => unprotected.listen(0, '127.0.0.1', resolve))
  await page.goto(`http://127.0.0.1:${(unprotected.address() as AddressInfo).port}/`)
  await expect.poll(hits).toBe(1)
  await expect.poll(() => tripwire.connections.length).toBeGreaterThan(0)
  await page.close()
  unprotected.close()
})

it(
  `runs none of ${payloads.length} payloads and loads nothing from another host, in every form of an output and every name`,
  async () => {
    expect(CORPUS.length).toBeGreaterThanOrEqual(400)
    expect(new Set(CORPUS).size).toBe(CORPUS.length)
    for (const name of payloads.slice(-20))
      expect((await server.native.call('POST', '/v1/containers', { name })).status, name).toBeLessThan(500)
    let hits = (): number => 0
    const { page } = await openPage(tripwire.browser, server, {
      prepare: async (opened) => {
        hits = await countHits(opened)
      },
    })
    tripwire.connections.length = 0
    await page
      .locator('input[type=file]')
      .setInputFiles({ name: 'payloads.json', mimeType: 'application/json', buffer: Buffer.from(JSON.stringify(payloads)) })
    // The message, its chat's title and the answer of the demo model are names and text as well.
    await page.getByLabel('Message').fill(payloads.slice(-12).join('\n\n'))
    await page.getByRole('button', { name: 'Send' }).click()
    await page.getByRole('article', { name: 'Answer' }).waitFor()
    await isIdle(page)
    await runCell(page, SHOW)
    await page
      .locator('.traceback summary')
      .first()
      .waitFor({ timeout: 2 * RUN_MS })
    await isIdle(page)
    const traceback = (await page.locator('.traceback').first().textContent()) ?? ''
    expect(traceback, traceback.slice(0, 2_000)).toContain(payloads.at(-1))
    expect(await page.locator('.outputs .markdown').count()).toBe(payloads.length)
    expect(await page.locator('.outputs .picture img').count()).toBe(payloads.length)
    await page.locator('.traceback summary').first().click()
    await showFrames(page)
    await openPreviews(page)
    const links = await page.locator('main a[href]').evaluateAll((found) => found.map((link) => link.getAttribute('href') ?? ''))
    expect(links.filter((href) => !/^(?:https?:|mailto:|#|\/d\/|\/v1\/containers\/|data:image\/(?:svg\+xml|png))/i.test(href))).toEqual([])
    expect(hits()).toBe(0)
    expect(tripwire.connections).toEqual([])
    expect(new URL(page.url()).origin).toBe(server.url)
  },
  (isWhole ? 8 : 3) * RUN_MS,
)
