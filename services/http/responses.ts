/** A JSON answer. */
export const json = (status: number, body: unknown, headers: Readonly<Record<string, string>> = {}): Response =>
  new Response(JSON.stringify(body), { status, headers: { 'content-type': 'application/json', ...headers } })

/** One JSON value per line, at the reader's pace. */
export function jsonLines(values: AsyncIterable<object>): Response {
  const iterator = values[Symbol.asyncIterator]()
  const encoder = new TextEncoder()
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { value, done } = await iterator.next()
        if (done === true) controller.close()
        else controller.enqueue(encoder.encode(`${JSON.stringify(value)}\n`))
      },
      cancel: async () => void (await iterator.return?.()),
    },
    { highWaterMark: 0 },
  )
  return new Response(body, { headers: { 'content-type': 'application/x-ndjson' } })
}

/** A notebook as a download: Jupyter's own type, never shown as a page. */
export const notebookResponse = (notebook: unknown, filename: string): Response =>
  new Response(JSON.stringify(notebook, null, 1), {
    headers: { 'content-type': 'application/x-ipynb+json', 'content-disposition': `attachment; filename="${filename}"` },
  })

/** Redirects to a presigned URL: no cache stores it, and no referrer header names it. */
export const redirectTo = (url: string, headers: Readonly<Record<string, string>> = {}): Response =>
  new Response(null, { status: 302, headers: { location: url, 'referrer-policy': 'no-referrer', 'cache-control': 'no-store', ...headers } })
