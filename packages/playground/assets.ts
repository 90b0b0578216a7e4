/** Addresses of the files that the page loads when it needs them; the build writes them into the document. */
const ASSETS = JSON.parse(document.querySelector<HTMLMetaElement>('meta[name="cellblock-assets"]')?.content ?? '{}') as Readonly<
  Record<string, string>
>

export function assetUrl(name: string): string {
  const url = ASSETS[name]
  if (url === undefined) throw new Error(`The build has no asset ${name}.`)
  return url
}
