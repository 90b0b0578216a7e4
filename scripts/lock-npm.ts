// Completes package-lock.json after `npm install`, so that `npm ci` accepts it on every platform.
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { missingOptionalPackages, type Lockfile } from './lockfile.ts'

const path = join(import.meta.dirname, '../package-lock.json')
const lockfile = JSON.parse(await readFile(path, 'utf8')) as Lockfile
const missing = missingOptionalPackages(lockfile)
const packages = Object.fromEntries(Object.entries({ ...lockfile.packages, ...missing }).toSorted(([a], [b]) => a.localeCompare(b, 'en')))
if (Object.keys(missing).length > 0) await writeFile(path, `${JSON.stringify({ ...lockfile, packages }, undefined, 2)}\n`)
console.log(`${Object.keys(missing).length} packages of other platforms added`)
