import { findFolderCycles } from '../find-folder-cycles.ts'
import { refusePythonImport } from './python-layers.ts'
import { functionsOf, importsOf, type PythonFiles } from './read-python.ts'

const MAX_FILE_LINES = 300
const MAX_FUNCTION_LINES = 60

/** What the Python code breaks: layers, cycles of files and of folders at any depth, and lengths. */
export function pythonFindings(files: PythonFiles): string[] {
  const imports = [...files.keys()].flatMap((file) => importsOf(files, file))
  const cycles = findFolderCycles(imports.map((each) => ({ ...each, isPackage: false })))
  return [
    ...imports.flatMap(({ from, to }) => refusePythonImport(from, to) ?? []),
    ...cycles.map((steps) => `Import cycle: ${steps}`),
    ...[...files].flatMap(([file, text]) => lengthFindings(file, text)),
  ]
}

function lengthFindings(file: string, text: string): string[] {
  const lines = text.trimEnd().split('\n').length
  return [
    ...(lines > MAX_FILE_LINES ? [`${file} has ${lines} lines, more than ${MAX_FILE_LINES}`] : []),
    ...functionsOf(text)
      .filter((each) => each.lines > MAX_FUNCTION_LINES)
      .map((each) => `${file}: ${each.name} has ${each.lines} lines, more than ${MAX_FUNCTION_LINES}`),
  ]
}
