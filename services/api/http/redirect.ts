/** To a presigned URL: it must not be kept by anybody on the way, nor be told to where it leads. */
export const redirectTo = (url: string, headers: Readonly<Record<string, string>> = {}): Response =>
  new Response(null, { status: 302, headers: { location: url, 'referrer-policy': 'no-referrer', 'cache-control': 'no-store', ...headers } })
