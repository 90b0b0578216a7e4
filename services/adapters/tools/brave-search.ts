import * as z from 'zod'

export interface BraveSetting {
  readonly apiKey: string
  /** Without a trailing slash. */
  readonly baseUrl: string
}
export interface Found {
  readonly title: string
  readonly url: string
  readonly text: string
  /** In the search engine's words, for example `3 days ago`. */
  readonly age: string | null
}
/** `why` is a sentence for the model, without keys and internal addresses. */
export type BraveAnswer = { readonly kind: 'found'; readonly found: readonly Found[] } | { readonly kind: 'failed'; readonly why: string }

/** Longer addresses cannot be cited. */
const MAX_URL_CHARS = 2_000
const MAX_TITLE_CHARS = 300
/** Maximum size of an answer, bytes. */
const MAX_ANSWER_BYTES = 4 * 1024 * 1024

/** The fields of the answer that are read; the engine sends more. */
const Answer = z.looseObject({
  web: z
    .looseObject({
      results: z.array(
        z.looseObject({
          title: z.string(),
          url: z.url({ protocol: /^https?$/ }),
          description: z.string().nullish(),
          age: z.string().nullish(),
          extra_snippets: z.array(z.string()).nullish(),
        }),
      ),
    })
    .nullish(),
})

/** One call of Brave's `web/search` (https://api-dashboard.search.brave.com/app/documentation/web-search). Throws when the signal fires. */
export async function searchBrave(
  { apiKey, baseUrl }: BraveSetting,
  wanted: { readonly query: string; readonly count: number; readonly country: string | null },
  signal: AbortSignal,
): Promise<BraveAnswer> {
  const query = new URLSearchParams({ q: wanted.query, count: String(wanted.count), result_filter: 'web', text_decorations: 'false' })
  if (wanted.country !== null) query.set('country', wanted.country)
  let answer: Response
  try {
    answer = await fetch(`${baseUrl}/web/search?${query}`, {
      headers: { accept: 'application/json', 'x-subscription-token': apiKey },
      redirect: 'error',
      signal,
    })
  } catch {
    signal.throwIfAborted()
    return { kind: 'failed', why: 'The search engine cannot be reached. Continue without it and say so.' }
  }
  const text = await readAtMost(answer, MAX_ANSWER_BYTES)
  if (!answer.ok)
    return {
      kind: 'failed',
      why: FAILURES[answer.status] ?? `The search engine answered ${answer.status}. Continue without it and say so.`,
    }
  const parsed = text === null ? null : Answer.safeParse(parse(text))
  if (parsed === null || !parsed.success)
    return { kind: 'failed', why: 'The answer of the search engine cannot be read. Continue without it and say so.' }
  return {
    kind: 'found',
    found: (parsed.data.web?.results ?? [])
      .filter(({ url }) => url.length <= MAX_URL_CHARS)
      .slice(0, wanted.count)
      .map((result) => ({
        title: plain(result.title).slice(0, MAX_TITLE_CHARS),
        url: result.url,
        text: plain([result.description ?? '', ...(result.extra_snippets ?? [])].join(' ')),
        age: result.age ?? null,
      })),
  }
}

const FAILURES: Readonly<Record<number, string>> = {
  401: 'The search engine rejects the key of this server. Continue without it and say so.',
  403: 'The search engine rejects the key of this server. Continue without it and say so.',
  422: 'The search engine does not understand the query. Try other words.',
  429: 'Too many searches at this moment. Continue without another one, or try again once.',
}

/** Null when it is longer. */
async function readAtMost(answer: Response, max: number): Promise<string | null> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of (answer.body ?? []) as AsyncIterable<Uint8Array>) {
    bytes += chunk.length
    if (bytes > max) return null
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', '#x27': "'", '#39': "'", nbsp: ' ' }

/** Excerpts contain HTML tags and entities, even without decoration. */
const plain = (html: string): string =>
  html
    .replace(/<\/?[a-z][^<>]{0,200}>/gi, '')
    .replace(/&(amp|lt|gt|quot|#x27|#39|nbsp);/g, (entity, name: string) => ENTITIES[name] ?? entity)
    .replace(/\s+/g, ' ')
    .trim()
