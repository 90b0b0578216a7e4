import { extname } from 'node:path'

const CONTENT_TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.woff2': 'font/woff2',
  '.csv': 'text/csv; charset=utf-8',
  '.png': 'image/png',
  '.json': 'application/json',
}

/** The media type of a built file of the page. */
export const pageContentType = (path: string): string => CONTENT_TYPES[extname(path)] ?? 'application/octet-stream'

/** Only names of one segment, and `assets/` before one: no file outside the page. */
export const isPageFile = (path: string): boolean => /^(?:assets\/)?[\w-]+(?:\.[\w-]+)+$/.test(path)
