/** A JSON answer. */
export const json = (status: number, body: unknown, headers: Readonly<Record<string, string>> = {}): Response =>
  new Response(JSON.stringify(body), { status, headers: { 'content-type': 'application/json', ...headers } })

/** A notebook as a download: Jupyter's own type, never shown as a page. */
export const notebookResponse = (notebook: unknown, filename: string): Response =>
  new Response(JSON.stringify(notebook, null, 1), {
    headers: { 'content-type': 'application/x-ipynb+json', 'content-disposition': `attachment; filename="${filename}"` },
  })

/** Redirects to a presigned URL: no cache stores it, and no referrer header names it. */
export const redirectTo = (url: string, headers: Readonly<Record<string, string>> = {}): Response =>
  new Response(null, { status: 302, headers: { location: url, 'referrer-policy': 'no-referrer', 'cache-control': 'no-store', ...headers } })
