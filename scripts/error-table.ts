// Writes docs/errors.md: what each error of the API means and what to do.
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { ERROR_HELP, isErrorCode } from '../services/model/error-help.ts'
import { ERRORS } from '../services/model/errors.ts'

/** The whole page as Markdown. */
export function errorPage(): string {
  const sections = Object.keys(ERRORS)
    .filter(isErrorCode)
    .map((code) => {
      const { status, type, retryable } = ERRORS[code]
      const { means, fix } = ERROR_HELP[code]
      const again = retryable ? 'The same request may succeed later.' : 'The same request fails again.'
      return `## ${code}\n\nHTTP ${status}, \`${type}\`. ${means} ${again}\n\n**What to do:** ${fix}\n`
    })
  return [
    '# Errors\n',
    'A refusal has OpenAI\'s envelope, `{"error": {"message", "type", "code", "param"}, "request_id"}`. The header `Link` names the page of its code on the',
    'server, `/docs/errors/{code}`; `X-Should-Retry` says whether a retry may help. Code that fails is a result, not an error.',
    '`node scripts/error-table.ts` writes this page.\n',
    ...sections,
  ].join('\n')
}

if (import.meta.main) await writeFile(join(import.meta.dirname, '..', 'docs', 'errors.md'), errorPage())
