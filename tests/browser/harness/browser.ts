import { createRequire } from 'node:module'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { chromium, type Browser, type BrowserContext, type Page } from 'playwright-core'
import { ensurePlayground } from '../../../infra/build/ensure-playground.ts'
import { ensureChromium } from '../../../scripts/setup/chromium.ts'
import { readSetupConfig } from '../../../scripts/setup/config.ts'
import { quiet } from '../../../scripts/setup/progress.ts'
import { startServer, type LocalServerProcess } from '../../support/local-server.ts'

/** The sandboxes of a test import nothing at their start, so the first import of pandas takes seconds on a busy machine. */
export const RUN_MS = 90_000

/** Starts the local server with the built page. */
export async function startPageServer(
  options: { readonly dataDir?: string; readonly env?: Readonly<Record<string, string>> } = {},
): Promise<LocalServerProcess> {
  const folder = await ensurePlayground(quiet)
  return startServer({ ...options, env: { ...options.env, CELLBLOCK_PLAYGROUND: folder } })
}

/** Chromium without its own sandbox, which does not start as root; it opens pages of this server only. */
export async function startBrowser(args: readonly string[] = []): Promise<Browser> {
  const executablePath = await ensureChromium({ config: readSetupConfig(), mayInstall: true }, quiet)
  return chromium.launch({ executablePath, args: ['--no-sandbox', ...args] })
}

export interface OpenPage {
  readonly page: Page
  readonly context: BrowserContext
  /** Errors of scripts and violations of the page's content security policy. */
  readonly problems: readonly string[]
}

/** Opens the page in a new profile and signs in with the key of the server. `prepare` runs before the first document loads. */
export async function openPage(
  browser: Browser,
  server: Pick<LocalServerProcess, 'url' | 'apiKey'>,
  options: {
    readonly viewport?: { readonly width: number; readonly height: number }
    readonly colorScheme?: 'light' | 'dark'
    readonly prepare?: (page: Page) => Promise<void>
  } = {},
): Promise<OpenPage> {
  const { viewport = { width: 1280, height: 860 }, colorScheme = 'light' } = options
  const context = await browser.newContext({ viewport, colorScheme, acceptDownloads: true })
  const page = await context.newPage()
  await options.prepare?.(page)
  page.setDefaultTimeout(RUN_MS)
  const problems: string[] = []
  page.on('pageerror', (error) => problems.push(error.message))
  page.on('console', (message) => {
    if (message.type() === 'error') problems.push(message.text())
  })
  await page.goto(server.url)
  await page.getByLabel('API key').fill(server.apiKey)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('heading', { name: 'Ask, and watch the code run' }).waitFor()
  return { page, context, problems }
}

/** Runs code without a model, in the language that the page names. */
export async function runCell(page: Page, code: string, language = 'Python'): Promise<void> {
  await page.getByRole('button', { name: 'Run code' }).click()
  await page.getByLabel(`${language} code`).fill(code)
  await page.getByRole('button', { name: 'Run', exact: true }).click()
}

/** Sends a message with code, which the demo model runs. */
export async function askToRun(page: Page, code: string, question = 'Run this'): Promise<void> {
  await page.getByLabel('Message').fill(`${question}\n\n\`\`\`python\n${code}\n\`\`\``)
  await page.getByRole('button', { name: 'Send', exact: true }).click()
}

export const isIdle = (page: Page): Promise<void> =>
  page.locator('.timeline [role=status]', { hasText: 'Ready.' }).waitFor({ state: 'attached' })

/** Pictures of the documentation are written only with `CELLBLOCK_SCREENSHOTS=1`, because they differ in every run. */
export const takesPictures = process.env['CELLBLOCK_SCREENSHOTS'] === '1'
const IMAGES = join(import.meta.dirname, '..', '..', '..', 'docs', 'img')

export async function picture(page: Page, name: string): Promise<void> {
  if (takesPictures) await page.screenshot({ path: join(IMAGES, `${name}.png`) })
}

const AXE = createRequire(import.meta.url).resolve('axe-core/axe.min.js')

interface AxeResult {
  readonly violations: readonly { readonly id: string; readonly nodes: readonly { readonly html: string }[] }[]
}

/** All findings of axe, with the markup at fault. The page's policy allows no injected script element, so axe is evaluated. */
export async function axeFindings(page: Page): Promise<string[]> {
  await page.evaluate(await readFile(AXE, 'utf8'))
  const { violations } = await page.evaluate<AxeResult>('axe.run(document, { iframes: false })')
  return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 160)).join(' | ')}`)
}
