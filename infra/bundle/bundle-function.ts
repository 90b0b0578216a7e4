import { build, type BuildOptions, type Plugin } from 'esbuild'
import { isBuiltin } from 'node:module'
import { join } from 'node:path'

export const PROJECT = join(import.meta.dirname, '..', '..')

/** A module made of this source instead of what is asked for. */
const replace = (name: string, filter: RegExp, importer: RegExp, contents: string): Plugin => ({
  name,
  setup(build) {
    build.onResolve({ filter }, (asked) => (importer.test(asked.importer) ? { path: name, namespace: name } : undefined))
    build.onLoad({ filter: /.*/, namespace: name }, () => ({ contents, resolveDir: PROJECT }))
  },
})

/** Sentences of validation errors in English only: the other languages are a quarter of a megabyte in each function. */
const englishOnly = replace(
  'zod-locales',
  /locales\/index\.js$/,
  /node_modules\/zod\//,
  "export { default as en } from 'zod/v4/locales/en.js'",
)
/**
 * The links use two parts of undici; its index brings a browser's whole network stack. The index is also what gives every dispatcher its `request`. Any
 * other name fails the build.
 */
const undiciParts = replace(
  'undici-parts',
  /^undici$/,
  /services\//,
  `import Dispatcher from 'undici/lib/dispatcher/dispatcher.js'
  import request from 'undici/lib/api/api-request.js'
  Dispatcher.prototype.request = request
  export { default as Pool } from 'undici/lib/dispatcher/pool.js'
  export { default as buildConnector } from 'undici/lib/core/connect.js'`,
)

/**
 * Node's own modules as `require` gives them. An `import` of one reads each of its exports, also those that load something big when they are read: through
 * `node:http` and `node:fs` a sixth of a cold start went into parts of Node that nobody uses.
 */
const lazyBuiltins: Plugin = {
  name: 'lazy-builtins',
  setup(build) {
    build.onResolve({ filter: /^(?:node:)?[a-z_0-9/]+$/ }, ({ path, kind }) =>
      kind !== 'entry-point' && isBuiltin(path) ? { path: path.replace(/^(?!node:)/, 'node:'), namespace: 'builtin' } : undefined,
    )
    build.onLoad({ filter: /.*/, namespace: 'builtin' }, ({ path }) => ({
      contents: `module.exports = process.getBuiltinModule('${path}')`,
    }))
  },
}

/** How everything that runs in Lambda is bundled. */
export const BUNDLE_OPTIONS = {
  absWorkingDir: PROJECT,
  bundle: true,
  minify: true,
  platform: 'node',
  target: 'node24',
  format: 'esm',
  mainFields: ['module', 'main'],
  legalComments: 'none',
  plugins: [englishOnly, undiciParts, lazyBuiltins],
  logLevel: 'warning',
} as const satisfies BuildOptions

/**
 * Writes `<outputFolder>/index.mjs` and what it imports later: the entry and everything it uses, the AWS SDK too, so that what was tested is what runs.
 * Rejects with esbuild's messages when something cannot be resolved. Returns the size in bytes and which packages are inside.
 */
export async function bundleFunction(
  entry: string,
  outputFolder: string,
): Promise<{ readonly bytes: number; readonly packages: readonly string[] }> {
  const { metafile } = await build({
    entryPoints: { index: join(PROJECT, entry) },
    outdir: outputFolder,
    outExtension: { '.js': '.mjs' },
    // What is imported when it is needed lies beside the entry: a start does not even parse it.
    splitting: true,
    ...BUNDLE_OPTIONS,
    metafile: true,
  })
  const bytes = Object.values(metafile.outputs).reduce((sum, output) => sum + output.bytes, 0)
  const packages = Object.keys(metafile.inputs).flatMap(
    (path) => /node_modules\/((?:@[^/]+\/)?[^/]+)\/(?!.*node_modules\/)/.exec(path)?.[1] ?? [],
  )
  return { bytes, packages: [...new Set(packages)].toSorted() }
}
