import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { PACKAGE, PYTHON_LAYERS } from '../../../scripts/import-rules/python/python-layers.ts'
import { pythonFindings } from '../../../scripts/import-rules/python/python-findings.ts'
import { functionsOf, importsOf, readPython } from '../../../scripts/import-rules/python/read-python.ts'

const ROOT = join(import.meta.dirname, '..', '..', '..')

/** Files of the supervisor's package, without any other one. */
const files = (texts: Readonly<Record<string, string>>): Map<string, string> =>
  new Map(Object.entries(texts).map(([path, text]) => [`${PACKAGE}/${path}`, text]))

const findings = (texts: Readonly<Record<string, string>>): string[] => pythonFindings(files(texts))

describe('the Python code of the sandbox', async () => {
  const found = await readPython(ROOT)

  it('keeps its layers, has no cycle of files or folders and no long file or function', () => {
    expect(found.size).toBeGreaterThan(180)
    expect([...found.keys()].flatMap((file) => importsOf(found, file)).length).toBeGreaterThan(400)
    expect(pythonFindings(found)).toEqual([])
  })
})

it('each layer may import only layers before it in the table', () => {
  const names = PYTHON_LAYERS.map(({ name }) => name)
  for (const [at, { mayImport }] of PYTHON_LAYERS.entries())
    expect(mayImport.filter((name) => !names.slice(0, at).includes(name))).toEqual([])
})

it.each([
  ['from .b import x'],
  ['from . import b'],
  ['from . import (\n    c,\n    b as other,\n)'],
  ['def f() -> None:\n    from . import b'],
  ['if TYPE_CHECKING:\n    from .b import x'],
  ['from ...worker.charts.b import x'],
  ['from cellblock_supervisor.worker.charts import b'],
  ['import cellblock_supervisor.worker.charts.b as b'],
  ['import b'],
])('finds the import in: %s', (source) => {
  const given = files({ 'worker/charts/a.py': source, 'worker/charts/b.py': '' })
  expect(importsOf(given, `${PACKAGE}/worker/charts/a.py`)).toEqual([
    { from: `${PACKAGE}/worker/charts/a.py`, to: `${PACKAGE}/worker/charts/b.py` },
  ])
})

it('finds no import in texts and comments', () => {
  const given = files({ 'worker/charts/a.py': '"""\nfrom .b import x\n"""\n# from .b import x\n', 'worker/charts/b.py': '' })
  expect(importsOf(given, `${PACKAGE}/worker/charts/a.py`)).toEqual([])
})

it('reports a cycle that an import in a function closes', () => {
  expect(findings({ 'worker/charts/a.py': 'from . import b', 'worker/charts/b.py': 'def f():\n    from . import a' })).toEqual([
    `Import cycle: ${PACKAGE}/worker/charts/a.py -> ${PACKAGE}/worker/charts/b.py, ${PACKAGE}/worker/charts/b.py -> ${PACKAGE}/worker/charts/a.py`,
  ])
})

it('reports a cycle of folders whose files form none', () => {
  expect(
    findings({
      'worker/snapshot/values/a.py': 'from ..process import b',
      'worker/snapshot/process/b.py': '',
      'worker/snapshot/process/c.py': 'from ..values import d',
      'worker/snapshot/values/d.py': '',
    }),
  ).toEqual([
    `Import cycle: ${PACKAGE}/worker/snapshot/values/a.py -> ${PACKAGE}/worker/snapshot/process/b.py, ${PACKAGE}/worker/snapshot/process/c.py -> ${PACKAGE}/worker/snapshot/values/d.py`,
  ])
})

it.each([
  ['worker/snapshot/a.py', 'from ..kernel import b', 'worker/kernel/b.py'],
  ['worker/libraries/a.py', 'from ..snapshot import b', 'worker/snapshot/b.py'],
  ['worker/charts/a.py', 'from ..displays import b', 'worker/displays/b.py'],
  ['execution/a.py', 'from ..worker.kernel import b', 'worker/kernel/b.py'],
  ['execution/a.py', 'from ..http import b', 'http/b.py'],
  ['worker/isolation/a.py', 'from ...execution import b', 'execution/b.py'],
])('refuses in %s: %s', (from, source, to) => {
  expect(findings({ [from]: source, [to]: '' }).join('\n')).toContain(`${PACKAGE}/${from} -> ${PACKAGE}/${to} is not allowed`)
})

it('requires a layer for every file of the supervisor that imports', () => {
  expect(findings({ 'new/a.py': 'from .. import config', 'config.py': '' }).join('\n')).toContain(`${PACKAGE}/new/a.py belongs to no layer`)
})

it('measures functions with a signature of several lines, texts and inner functions', () => {
  const source =
    'class A:\n    async def outer(\n        self,\n    ) -> None:\n        """One.\n\ntwo"""\n        def inner(): return 1\n\n        return inner\n\n\nx = 1\n'
  expect(functionsOf(source)).toEqual([
    { name: 'outer', lines: 9 },
    { name: 'inner', lines: 1 },
  ])
})

it('reports long files and long functions', () => {
  const long = `def f():\n${'    x = 1\n'.repeat(60)}`
  expect(findings({ 'worker/charts/a.py': long })).toEqual([`${PACKAGE}/worker/charts/a.py: f has 61 lines, more than 60`])
  expect(findings({ 'worker/charts/a.py': 'x = 1\n'.repeat(301) })).toEqual([`${PACKAGE}/worker/charts/a.py has 301 lines, more than 300`])
  expect(findings({ 'worker/charts/a.py': 'x = 1\n'.repeat(300) })).toEqual([])
})
