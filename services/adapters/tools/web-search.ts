import { WEB_SEARCH } from '../../model/responses/items/web-search-call.ts'
import type { ServerTool, ToolContext } from '../../ports/tool.ts'
import { trimText } from '../../model/trim-text.ts'
import { searchBrave, type BraveSetting, type Found } from './brave-search.ts'

/** Results for OpenAI's `search_context_size`. */
const RESULTS: ReadonlyMap<unknown, number> = new Map([
  ['low', 3],
  ['medium', 6],
  ['high', 12],
])
const DEFAULT_RESULTS = 6
const MAX_QUERY_CHARS = 400
const MAX_SNIPPET_CHARS = 700
const MAX_DOMAINS = 20

/** OpenAI's web search: the results come from the Brave Search API and reach the model trimmed, each with its address. */
export const webSearchTool = (setting: BraveSetting): ServerTool => ({
  answeredBy: 'server',
  type: WEB_SEARCH,
  aliases: ['web_search_2025_08_26', 'web_search_preview', 'web_search_preview_2025_03_11'],
  name: WEB_SEARCH,
  description:
    'Searches the web and returns titles, addresses and excerpts of the best results. Use it for what is recent or may have changed. Name the address of every page that the answer draws on.',
  parameters: {
    type: 'object',
    properties: { query: { type: 'string', minLength: 1, description: 'What to search for: a few words, as in a search engine.' } },
    required: ['query'],
    additionalProperties: false,
  },
  limits: { timeoutMs: 15_000, maxResultChars: 12_000 },
  async execute(args, context) {
    const domains = allowedDomains(context)
    const answer = await searchBrave(
      setting,
      {
        query: withDomains(String(args['query']).slice(0, MAX_QUERY_CHARS), domains),
        count: RESULTS.get(context.options['search_context_size']) ?? DEFAULT_RESULTS,
        country: countryOf(context),
      },
      context.signal,
    )
    if (answer.kind === 'failed') return { kind: 'text', text: `error: ${answer.why}`, isError: true }
    // The engine treats `site:` as a preference.
    const found = answer.found.filter(({ url }) => domains.length === 0 || domains.some((domain) => isWithin(url, domain)))
    if (found.length === 0) return { kind: 'text', text: 'Nothing was found. Try other words.', isError: false }
    return {
      kind: 'text',
      text: found.map(describe).join('\n\n'),
      isError: false,
      sources: found.map(({ url, title }) => ({ url, title })),
    }
  },
})

const describe = ({ title, url, text, age }: Found, index: number): string =>
  `[${index + 1}] ${title}${age === null ? '' : ` (${age})`}\n${url}\n${trimText(text, MAX_SNIPPET_CHARS, 1)}`

function allowedDomains({ options }: ToolContext): readonly string[] {
  const filters = options['filters'] as { readonly allowed_domains?: unknown } | null | undefined
  const domains = filters?.allowed_domains
  if (!Array.isArray(domains)) return []
  const names = domains.map((domain) => String(domain).toLowerCase())
  return names.filter((domain) => /^[a-z0-9.-]{1,253}$/.test(domain)).slice(0, MAX_DOMAINS)
}

const withDomains = (query: string, domains: readonly string[]): string =>
  domains.length === 0 ? query : `${query} (${domains.map((domain) => `site:${domain}`).join(' OR ')})`

function isWithin(url: string, domain: string): boolean {
  const host = URL.canParse(url) ? new URL(url).hostname : ''
  return host === domain || host.endsWith(`.${domain}`)
}

function countryOf({ options }: ToolContext): string | null {
  const location = options['user_location'] as { readonly country?: unknown } | null | undefined
  const country = typeof location?.country === 'string' ? location.country.toUpperCase() : ''
  return /^[A-Z]{2}$/.test(country) ? country : null
}
