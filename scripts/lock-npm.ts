// Completes every package-lock.json of the project after `npm install`: adds the optional packages of other platforms, so that `npm ci` accepts it everywhere, and the
// integrity of every package that the registry carries.
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { LOCKFILES, missingOptionalPackages, packagesWithoutIntegrity, type LockedPackage, type Lockfile } from './lockfile.ts'
import { runCommand } from './setup/command.ts'

const ROOT = join(import.meta.dirname, '..')

for (const name of LOCKFILES) await complete(name)

async function complete(file: string): Promise<void> {
  const path = join(ROOT, file)
  const lockfile = JSON.parse(await readFile(path, 'utf8')) as Lockfile
  const missing = missingOptionalPackages(lockfile)
  const packages: Record<string, LockedPackage> = { ...lockfile.packages, ...missing }
  const unchecked: string[] = []
  for (const name of packagesWithoutIntegrity({ packages })) {
    const entry = packages[name]
    const id = `${name.slice(name.lastIndexOf('node_modules/') + 'node_modules/'.length)}@${entry?.version ?? ''}`
    const { code, stdout } = await runCommand('npm', ['view', id, 'dist.integrity'])
    if (code === 0 && stdout.startsWith('sha512-')) packages[name] = { ...entry, integrity: stdout.trim() }
    else unchecked.push(id)
  }
  const sorted = Object.fromEntries(Object.entries(packages).toSorted(([a], [b]) => a.localeCompare(b, 'en')))
  await writeFile(path, `${JSON.stringify({ ...lockfile, packages: sorted }, undefined, 2)}\n`)
  console.log(`${file}: ${Object.keys(missing).length} packages of other platforms added`)
  if (unchecked.length > 0) console.log(`Without integrity, because the registry does not carry them: ${unchecked.join(', ')}`)
}
