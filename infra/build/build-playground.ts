import { build, type BuildOptions, type Metafile } from 'esbuild'
import { cp, mkdir, readFile, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'

const ROOT = join(import.meta.dirname, '..', '..')
const SOURCE = join(ROOT, 'packages', 'playground')

/** Documents for untrusted content: each loads one script and has a separate origin. */
const FRAMES = ['frame-html', 'frame-plotly', 'frame-vega', 'frame-terminal'] as const

const COMMON = {
  absWorkingDir: ROOT,
  bundle: true,
  minify: true,
  metafile: true,
  target: 'es2023',
  platform: 'browser',
  legalComments: 'none',
  logLevel: 'warning',
  entryNames: '[name]-[hash]',
  chunkNames: 'chunk-[hash]',
  assetNames: '[name]-[hash]',
  define: { 'process.env.NODE_ENV': '"production"' },
  loader: { '.woff2': 'file', '.woff': 'empty', '.ttf': 'empty' },
} as const satisfies BuildOptions

export interface PlaygroundManifest {
  /** Scripts that the browser loads before the first paint, below `assets/`. */
  readonly firstScripts: readonly string[]
  /** Files that the page loads when it needs them, by their role. */
  readonly assets: Readonly<Record<string, string>>
}

/** Writes `index.html` and `assets/` into `folder`, which exists. Names contain a hash of the content. Rejects with esbuild's messages. */
export async function buildPlayground(folder: string): Promise<PlaygroundManifest> {
  const outdir = join(folder, 'assets')
  await mkdir(outdir, { recursive: true })
  const [page, frames] = await Promise.all([
    build({
      ...COMMON,
      entryPoints: { page: join(SOURCE, 'main.tsx'), style: join(SOURCE, 'style.css'), katex: join(SOURCE, 'katex.css') },
      outdir,
      format: 'esm',
      splitting: true,
      jsx: 'automatic',
      jsxImportSource: 'preact',
    }),
    build({
      ...COMMON,
      entryPoints: Object.fromEntries(FRAMES.map((name) => [name, join(SOURCE, 'frames', `${name}.ts`)])),
      outdir,
      format: 'iife',
      loader: { ...COMMON.loader, '.css': 'text' },
    }),
  ])
  const files = { ...entriesOf(page.metafile), ...entriesOf(frames.metafile) }
  const assets: Record<string, string> = { katex: pathOf(files, 'katex') }
  for (const name of FRAMES) assets[name] = await writeFrame(outdir, name, pathOf(files, name))
  // The API reference has the typeface of the page.
  await cp(
    join(ROOT, 'node_modules', '@fontsource-variable', 'inter', 'files', 'inter-latin-wght-normal.woff2'),
    join(outdir, 'inter.woff2'),
  )
  assets['sample'] = `/assets/sales.csv`
  await cp(join(ROOT, 'examples', 'quickstart', 'sales.csv'), join(outdir, 'sales.csv'))
  const template = await readFile(join(SOURCE, 'index.html'), 'utf8')
  const html = template
    .replace('%STYLE%', pathOf(files, 'style'))
    .replace('%SCRIPT%', pathOf(files, 'page'))
    .replace('%ASSETS%', JSON.stringify(assets).replaceAll('"', '&quot;'))
  await writeFile(join(folder, 'index.html'), html)
  const manifest = { firstScripts: firstScripts(page.metafile), assets }
  await writeFile(join(folder, 'manifest.json'), JSON.stringify(manifest))
  return manifest
}

/** A frame's address contains its script's hash, so both may be cached for ever. */
async function writeFrame(outdir: string, name: string, script: string): Promise<string> {
  const file = `${basename(script, '.js')}.html`
  const html = `<!doctype html><html lang="en"><meta charset="utf-8"><title>Output</title><body><script src="${script}"></script></body></html>\n`
  await writeFile(join(outdir, file), html)
  return `/assets/${file}`
}

/** Addresses by the name of the entry. */
function entriesOf({ outputs }: Metafile): Record<string, string> {
  return Object.fromEntries(
    Object.entries(outputs).flatMap(([path, { entryPoint }]) => {
      const name = entryPoint === undefined ? null : /([\w-]+)\.\w+$/.exec(entryPoint)?.[1]
      return name === undefined || name === null ? [] : [[name === 'main' ? 'page' : name, `/assets/${basename(path)}`]]
    }),
  )
}

function pathOf(files: Readonly<Record<string, string>>, name: string): string {
  const path = files[name]
  if (path === undefined) throw new Error(`The build of the web page made no file for ${name}.`)
  return path
}

/** The entry and everything that it imports statically. */
function firstScripts({ outputs }: Metafile): string[] {
  const entry = Object.keys(outputs).find((path) => outputs[path]?.entryPoint?.endsWith('main.tsx') === true)
  const found = new Set<string>()
  const visit = (path: string): void => {
    if (found.has(path)) return
    found.add(path)
    for (const { path: next, kind } of outputs[path]?.imports ?? []) if (kind === 'import-statement') visit(next)
  }
  if (entry !== undefined) visit(entry)
  return [...found].map((path) => `assets/${basename(path)}`)
}
