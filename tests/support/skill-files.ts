import { zipSync } from 'fflate'

export const manifest = (name = 'csv-report', description = 'Reports on a CSV file.', body = 'Run report.sh.'): string =>
  `---\nname: ${name}\ndescription: ${description}\n---\n\n${body}\n`

const UNIX = 3

/** A zip archive; `modes` are Unix modes of single entries. */
export const zipOf = (files: Readonly<Record<string, string | Uint8Array>>, modes: Readonly<Record<string, number>> = {}): Buffer =>
  Buffer.from(
    zipSync(
      Object.fromEntries(
        Object.entries(files).map(([path, content]) => {
          const bytes = typeof content === 'string' ? Buffer.from(content) : content
          const mode = modes[path]
          return [path, mode === undefined ? bytes : [bytes, { os: UNIX, attrs: mode << 16 }]]
        }),
      ) as Parameters<typeof zipSync>[0],
    ),
  )

export const inlineSkill = (name: string, archive: Buffer) => ({
  type: 'inline' as const,
  name,
  description: 'As in SKILL.md.',
  source: { type: 'base64' as const, media_type: 'application/zip' as const, data: archive.toString('base64') },
})
