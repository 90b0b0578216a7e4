// Reports imports that the table in docs/architecture.md does not allow, and cycles of imports; exits 1 if there are any.
import { join } from 'node:path'
import { findCycles } from './find-cycles.ts'
import { refuseImport } from './layers.ts'
import { readImports } from './read-imports.ts'

const imports = await readImports(join(import.meta.dirname, '..', '..'))
const findings = [
  ...imports.flatMap(({ from, to, isPackage }) => refuseImport(from, to, isPackage) ?? []),
  ...findCycles(imports).map((files) => `Import cycle: ${files.join(' -> ')}`),
]
for (const finding of new Set(findings)) console.log(finding)
if (findings.length > 0) process.exitCode = 1
