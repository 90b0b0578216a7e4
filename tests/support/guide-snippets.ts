import { readdirSync, readFileSync } from 'node:fs'
import { chmod, mkdir, writeFile } from 'node:fs/promises'
import { delimiter, join } from 'node:path'
import { runCommand } from '../../scripts/setup/command.ts'

const ROOT = join(import.meta.dirname, '../..')
const GUIDES = join(ROOT, 'docs/guides')
const SNIPPET = /```sh run\n([\s\S]*?)```\n\n```text\n([\s\S]*?)```/g

export interface GuideSnippet {
  readonly page: string
  /** Its number on the page, from 1. */
  readonly block: number
  readonly script: string
  /** The whole standard output. */
  readonly expected: string
}

/** Every block `sh run` of `docs/guides`, with the block `text` behind it. Throws an Error for one without its output. */
export function guideSnippets(): readonly GuideSnippet[] {
  const pages = readdirSync(GUIDES).filter((name) => name.endsWith('.md'))
  return pages.flatMap((page) => {
    const text = readFileSync(join(GUIDES, page), 'utf8')
    const found = [...text.matchAll(SNIPPET)].map(([, script = '', expected = ''], at) => ({ page, block: at + 1, script, expected }))
    if (found.length !== text.split('```sh run').length - 1) throw new Error(`${page}: a block "sh run" has no block "text" behind it.`)
    return found
  })
}

/** Runs a block in bash with `cellblock` in its PATH. Blocks of one folder share their files. */
export async function runSnippet(script: string, options: { readonly folder: string; readonly env: NodeJS.ProcessEnv }) {
  const programs = join(options.folder, '.bin')
  await mkdir(programs, { recursive: true })
  const program = join(programs, 'cellblock')
  const main = join(ROOT, 'packages/cli/src/main.ts')
  await writeFile(program, `#!/bin/sh\nexec '${process.execPath}' --disable-warning=ExperimentalWarning '${main}' "$@"\n`)
  await chmod(program, 0o755)
  const env = { ...options.env, PATH: [programs, options.env['PATH']].join(delimiter) }
  return runCommand('bash', ['-euo', 'pipefail', '-c', `cd '${options.folder}'\n${script}`], { env })
}
