// Reports imports that the table of layers does not allow, cycles of files and of folders, wires that other layers name, and small files
// with one importer; exits 1 if there are any.
// The Python code of the sandbox has a separate table, python/python-layers.ts.
import { join } from 'node:path'
import { findCycles } from './find-cycles.ts'
import { findFolderCycles } from './find-folder-cycles.ts'
import { refuseImport } from './layers.ts'
import { pythonFindings } from './python/python-findings.ts'
import { readPython } from './python/read-python.ts'
import { readImports } from './read-imports.ts'
import { findSmallFiles, readLineCounts } from './small-files.ts'
import { findNamedWires } from './wire-names.ts'

const ROOT = join(import.meta.dirname, '..', '..')
const imports = await readImports(ROOT)
const findings = [
  ...imports.flatMap(({ from, to, isPackage }) => refuseImport(from, to, isPackage) ?? []),
  ...findCycles(imports).map((files) => `Import cycle: ${files.join(' -> ')}`),
  ...findFolderCycles(imports).map((steps) => `Cycle of folders: ${steps}`),
  ...pythonFindings(await readPython(ROOT)),
  ...(await findNamedWires(ROOT)),
  ...findSmallFiles(imports, await readLineCounts(ROOT)),
]
for (const finding of new Set(findings)) console.log(finding)
if (findings.length > 0) process.exitCode = 1
