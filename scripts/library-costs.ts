// Writes into docs/images.md what each library of `full` costs beyond `standard`, measured in the images: `node scripts/library-costs.ts`,
// or with the tags of other builds `node scripts/library-costs.ts FULL STANDARD`.
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { ensureSandboxImage } from './setup/sandbox-image.ts'
import { explainFailure, runCommand } from './setup/command.ts'

const ROOT = join(import.meta.dirname, '..')
const PAGE = join(ROOT, 'docs/images.md')
const MARKERS = ['<!-- costs: begin -->', '<!-- costs: end -->'] as const

/** Lists the packages of an image with bytes on disk (Python: the files that are there, with their bytecode) and the names that they depend on. */
const PROGRAM = `
import importlib.metadata, importlib.util, json, os, re
def dependency(text): return re.split(r"[ ;<>=!~\\[(:|]", text.strip())[0]
python, debian = {}, {}
for found in importlib.metadata.distributions():
    size = 0
    for path in found.files or ():
        full = str(found.locate_file(path))
        for one in (full, importlib.util.cache_from_source(full) if full.endswith(".py") else ""):
            if one and os.path.isfile(one): size += os.path.getsize(one)
    needs = [dependency(one) for one in found.requires or () if "extra ==" not in one]
    python[re.sub(r"[-_.]+", "-", found.metadata["Name"]).lower()] = [size, [re.sub(r"[-_.]+", "-", one).lower() for one in needs]]
for block in open("/var/lib/dpkg/status", encoding="utf-8").read().split("\\n\\n"):
    fields = dict(line.split(": ", 1) for line in block.splitlines() if line[:1].strip() and ": " in line)
    if fields.get("Status", "").endswith(" installed"):
        needs = ",".join((fields.get("Depends", ""), fields.get("Pre-Depends", "")))
        debian[fields["Package"]] = [int(fields.get("Installed-Size", 0)) * 1024, [dependency(one) for one in needs.split(",") if one.strip()]]
print(json.dumps({"python": python, "debian": debian}))
`

type Packages = Readonly<Record<string, readonly [bytes: number, needs: readonly string[]]>>
interface Installed {
  readonly python: Packages
  readonly debian: Packages
}

async function installedIn(image: string): Promise<Installed> {
  const result = await runCommand('docker', ['run', '--rm', '--network', 'none', '--entrypoint', 'python3', image, '-c', PROGRAM])
  if (result.code !== 0) throw explainFailure(`The image ${image} could not list its packages: the reason is above.`, result)
  return JSON.parse(result.stdout) as Installed
}

/** For each name the bytes that it adds with everything that it needs, beyond `base` and the names before it. */
function costsOf(names: readonly string[], all: Packages, base: Packages): readonly number[] {
  const seen = new Set<string>()
  const add = (one: string): number => {
    const found = all[one]
    if (found === undefined || Object.hasOwn(base, one) || seen.has(one)) return 0
    seen.add(one)
    return found[0] + found[1].reduce((sum, need) => sum + add(need), 0)
  }
  return names.map((name) => add(name.toLowerCase()))
}

async function namesIn(file: string): Promise<readonly string[]> {
  const [full, standard] = await Promise.all(
    ['full', 'standard'].map((variant) => readFile(join(ROOT, 'runtime-image/requirements', `${variant}.${file}`), 'utf8')),
  )
  const names = (text = ''): string[] => text.split('\n').flatMap((line) => /^[A-Za-z0-9][\w.+-]*/.exec(line)?.[0] ?? [])
  const known = new Set(names(standard))
  return names(full).filter((name) => !known.has(name))
}

async function table(): Promise<string> {
  const images = process.argv.slice(2)
  for (const variant of (['full', 'standard'] as const).slice(images.length))
    images.push(await ensureSandboxImage((line) => console.error(line), { variant }))
  const [full, standard] = await Promise.all(images.map(installedIn))
  if (full === undefined || standard === undefined) throw new Error('Both images are needed.')
  const [libraries, programs] = await Promise.all([namesIn('in'), namesIn('apt')])
  const costs = [...costsOf(libraries, full.python, standard.python), ...costsOf(programs, full.debian, standard.debian)]
  const lines = [...libraries, ...programs].map((name, index) => {
    const bytes = costs[index] ?? 0
    return `| ${name} | ${index < libraries.length ? 'PyPI' : 'Debian'} | ${(bytes / 1e6).toFixed(bytes < 1e7 ? 1 : 0)} |`
  })
  return ['| Library | From | MB |', '|---|---|---|', ...lines].join('\n')
}

if (process.argv[1] === import.meta.filename) {
  const page = await readFile(PAGE, 'utf8')
  const [begin, end] = MARKERS.map((marker) => page.indexOf(marker))
  if (begin === undefined || end === undefined || begin < 0) throw new Error('docs/images.md has lost the markers of its costs.')
  await writeFile(PAGE, `${page.slice(0, begin + MARKERS[0].length)}\n\n${await table()}\n\n${page.slice(end)}`)
}
