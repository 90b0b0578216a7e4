/** Redirects to a presigned URL: no cache stores it, and no referrer header names it. Streaming function URLs hang on an empty body. */
export const redirectTo = (url: string, headers: Readonly<Record<string, string>> = {}): Response =>
  new Response('\n', { status: 302, headers: { location: url, 'referrer-policy': 'no-referrer', 'cache-control': 'no-store', ...headers } })
