// The documentation as a static site. Its pages are docs/*.md without changes.
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, posix } from 'node:path'
import { defineConfig } from 'vitepress'

const DOCS = join(import.meta.dirname, '..', '..', 'docs')

const titleOf = (name: string): string => /^# (?:\d+\. )?(.+)$/m.exec(readFileSync(join(DOCS, `${name}.md`), 'utf8'))?.[1] ?? name
const pages = (...names: readonly string[]) => names.map((name) => ({ text: titleOf(name), link: `/${name}` }))
const GUIDES = ['upload-and-ask', 'notebooks', 'tenants', 'own-image', 'own-model', 'own-tool', 'own-driver', 'tls', 'into-aws'].map(
  (name) => `guides/${name}`,
)
const decisions = readdirSync(join(DOCS, 'adr'))
  .filter((name) => /^\d{4}-.*\.md$/.test(name))
  .map((name) => `adr/${name.replace(/\.md$/, '')}`)

interface MarkdownToken {
  type: string
  tag: string
  attrs: [string, string][] | null
  readonly children: MarkdownToken[] | null
  attrGet(name: string): string | null
}
interface MarkdownState {
  readonly tokens: readonly MarkdownToken[]
  readonly env: { readonly relativePath?: string }
}

/** Files outside of docs/ are in the repository only: their names stay, without a link that leads nowhere. */
function nameSources({ tokens, env }: MarkdownState): void {
  const folder = dirname(env.relativePath ?? '')
  for (const { children } of tokens) {
    let isSource = false
    for (const token of children ?? []) {
      if (token.type === 'link_open') {
        const path = posix.join(folder, token.attrGet('href') ?? '')
        isSource = path.startsWith('../')
        if (!isSource) continue
        Object.assign(token, { type: 'source_open', tag: 'span', attrs: [['title', `In the repository: ${path.replaceAll('../', '')}`]] })
      } else if (token.type === 'link_close' && isSource) {
        Object.assign(token, { type: 'source_close', tag: 'span' })
        isSource = false
      }
    }
  }
}

/** What the default theme lacks: contrast, and space between the links of the bar. The keys of the search are no part of its name. */
const STYLE = `.vp-doc [class*='language-'] > span.lang { color: var(--vp-c-text-1) }
.DocSearch-Button-Keys { display: none !important }
.VPButton.brand { --vp-button-brand-bg: #3451b2 }
.VPNavBar .product-link { padding: 0 12px; font-size: 14px; font-weight: 500; line-height: var(--vp-nav-height) }
.VPNavScreen .product-link { display: block; padding: 12px 0 }
@media (max-width: 767px) { .VPNavBar .product-link { display: none } }`

export default defineConfig({
  head: [['style', {}, STYLE]],
  title: 'Cellblock',
  description: 'A self-hosted, multi-tenant code interpreter backend',
  base: '/docs/guide/',
  srcDir: DOCS,
  outDir: join(import.meta.dirname, '..', 'dist'),
  cacheDir: join(import.meta.dirname, '..', 'node_modules', '.cache'),
  rewrites: { 'guides/README.md': 'guides/index.md' },
  cleanUrls: true,
  lastUpdated: false,
  markdown: {
    // The default colours of code have too little contrast.
    theme: { light: 'github-light-high-contrast', dark: 'github-dark-high-contrast' },
    config: (md) => void md.core.ruler.push('sources', nameSources),
  },
  vite: { build: { chunkSizeWarningLimit: 2_000 } },
  themeConfig: {
    search: { provider: 'local' },
    outline: [2, 3],
    sidebar: {
      '/adr/': [{ text: 'Decisions', items: [{ text: 'Overview', link: '/adr/README' }, ...pages(...decisions)] }],
      '/': [
        {
          text: 'Start here',
          items: [{ text: 'From clone to plot', link: '/walkthrough' }, ...pages('web-page', 'concepts', 'faq', 'glossary')],
        },
        { text: 'Guides', items: [{ text: 'Overview', link: '/guides/' }, ...pages(...GUIDES)] },
        {
          text: 'Reference',
          items: pages(
            'api',
            'clients',
            'openai-wire',
            'errors',
            'tools',
            'images',
            'network',
            'ports',
            'tenancy',
            'webhooks',
            'privacy',
            'configuration',
            'limits',
          ),
        },
        { text: 'Operation', items: pages('single-machine', 'compose', 'upgrading', 'operations', 'deploy', 'aws', 'scaling', 'cost') },
        {
          text: 'How it works',
          items: pages(
            'architecture',
            'walkthrough-code',
            'mechanisms',
            'turn-log',
            'reliability',
            'threat-model',
            'tested',
            'emulator',
            'development',
          ),
        },
        { text: 'Decisions', items: [{ text: 'Overview', link: '/adr/README' }] },
      ],
    },
  },
})
