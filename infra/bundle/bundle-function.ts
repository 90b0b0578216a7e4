import { build, type BuildOptions, type Plugin } from 'esbuild'
import { readFile } from 'node:fs/promises'
import { isBuiltin } from 'node:module'
import { join } from 'node:path'

export const PROJECT = join(import.meta.dirname, '..', '..')

/**
 * Replaces a module that a function never uses with this source where `importer` imports it. What is left has the interface of the original, so code
 * that needs it after an update fails with a sentence. Only modules of 30 KB and more are worth it: Lambda loads every function from its archive.
 */
const replaceModule = (
  name: string,
  { filter, importer, contents }: { readonly filter: RegExp; readonly importer: RegExp; readonly contents: string },
): Plugin => ({
  name,
  setup(build) {
    build.onResolve({ filter }, (request) => (importer.test(request.importer) ? { path: name, namespace: name } : undefined))
    build.onLoad({ filter: /.*/, namespace: name }, () => ({ contents, resolveDir: PROJECT }))
  },
})

/** A function has no connection to upgrade, and no space for wires that live from one. */
const noLocalRoutes = replaceModule('local-routes', {
  filter: /\/one-machine\.ts$/,
  importer: /services\/wires\/routes\.ts$/,
  contents: 'export const LOCAL_ROUTES = []',
})

/** Validation messages in English only: the other languages add 250 KB to each function. */
const englishOnly = replaceModule('zod-locales', {
  filter: /locales\/index\.js$/,
  importer: /node_modules\/zod\//,
  contents: "export { default as en } from 'zod/v4/locales/en.js'",
})
/**
 * Errors of which Cellblock reads more than the name. For all others the SDK throws the service's own error class, with the name that the service
 * sent: 20 KB less.
 */
const DESCRIBED_ERRORS = /^(?:ConditionalCheckFailedException|TransactionCanceledException|\w+ServiceException)$/
/**
 * Descriptions of what an AWS service sends and receives. esbuild keeps all of them, because an object with computed keys could have effects; those of
 * the calls that a function makes are a tenth. As functions without effects, the others are left out.
 */
const usedAwsSchemas: Plugin = {
  name: 'used-aws-schemas',
  setup(build) {
    build.onLoad({ filter: /@aws-sdk\/client-[a-z0-9-]+\/dist-es\/schemas\/schemas_0\.js$/ }, async ({ path }) => ({
      contents: (await readFile(path, 'utf8'))
        .replaceAll(/^((?:export )?(?:var|const) [\w$]+ = )(\[[\s\S]*?\n?\]);$/gm, '$1/* @__PURE__ */ (() => $2)();')
        .replaceAll(/^\w+\.registerError\([\w$]+, (\w+)\);$/gm, (line, name: string) => (DESCRIBED_ERRORS.test(name) ? line : '')),
    }))
  },
}
/** Streams of events of AWS services, such as the results of queries in S3: the functions call none of them. They add 7 KB. */
const noEventStreams = replaceModule('aws-event-streams', {
  filter: /^@smithy\/core\/event-streams$/,
  importer: /@smithy\/core\//,
  contents: `const absent = () => { throw new Error('This bundle reads no event streams of AWS.') }
  export { absent as EventStreamSerde, absent as eventStreamSerdeProvider }`,
})

/**
 * The Model Context Protocol's package validates JSON schemas of elicitations and of tools without zod. Cellblock has neither: its tools validate with
 * zod. The smaller of the package's two validators adds 22 KB.
 */
const noJsonSchemaValidator = replaceModule('mcp-shims', {
  filter: /^@modelcontextprotocol\/server\/_shims$/,
  importer: /@modelcontextprotocol\/server\//,
  contents: `export class DefaultJsonSchemaValidator {
    getValidator() { throw new Error('This bundle validates with zod only.') }
  }
  export { default as process } from 'node:process'`,
})

/**
 * A function has its role's credentials in its environment and a Fargate task asks its metadata endpoint, which the AWS SDK tries too. The sources of
 * developers' machines (profiles, their sign-in, programs, tokens in files) add 80 KB.
 */
const noDeveloperCredentials = replaceModule('aws-developer-credentials', {
  filter: /^@aws-sdk\/credential-provider-(?:sso|login|ini|process|web-identity)$/,
  importer: /@aws-sdk\/credential-provider-node\//,
  contents: `import { CredentialsProviderError } from '@smithy/core/config'
  const absent = () => async () => { throw new CredentialsProviderError('This bundle reads no profiles and no token files.', { tryNextLink: true }) }
  export { absent as fromSSO, absent as fromLoginCredentials, absent as fromIni, absent as fromProcess, absent as fromTokenFile }`,
})

/** A function never asks a metadata endpoint for credentials; a task does. The clients of these endpoints add 10 KB. */
const noMetadataEndpoint = replaceModule('aws-metadata-endpoint', {
  filter: /^@smithy\/credential-provider-imds$|^@aws-sdk\/credential-provider-http$/,
  importer: /@aws-sdk\/credential-provider-node\//,
  contents: `import { CredentialsProviderError } from '@smithy/core/config'
  const absent = () => async () => { throw new CredentialsProviderError('This function asks no metadata endpoint.', { tryNextLink: true }) }
  export const ENV_CMDS_FULL_URI = 'AWS_CONTAINER_CREDENTIALS_FULL_URI'
  export const ENV_CMDS_RELATIVE_URI = 'AWS_CONTAINER_CREDENTIALS_RELATIVE_URI'
  export { absent as fromContainerMetadata, absent as fromInstanceMetadata, absent as fromHttp }`,
})

/** The AWS SDK names the browser in its user agent; a function runs in none. The parser of browser names adds 34 KB. */
const noBrowserNames = replaceModule('browser-names', {
  filter: /^bowser$/,
  importer: /@aws-sdk\/core\//,
  contents: "export const parse = () => { throw new Error('This bundle runs in no browser.') }\nexport default { parse }",
})

/**
 * Loads Node's modules as `require` does. An `import` reads every export, and some exports load large parts of Node when read: `node:http` and
 * `node:fs` took a sixth of a cold start.
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

/** esbuild options of everything that runs in Lambda, and of the tasks of the API. */
export const BUNDLE_OPTIONS = {
  absWorkingDir: PROJECT,
  bundle: true,
  minify: true,
  platform: 'node',
  target: 'node24',
  format: 'esm',
  mainFields: ['module', 'main'],
  legalComments: 'none',
  // Text beyond ASCII as it is: an escape is longer.
  charset: 'utf8',
  plugins: [
    noLocalRoutes,
    englishOnly,
    usedAwsSchemas,
    noEventStreams,
    noJsonSchemaValidator,
    noDeveloperCredentials,
    noBrowserNames,
    lazyBuiltins,
  ],
  logLevel: 'warning',
} as const satisfies BuildOptions

/**
 * Writes `<outputFolder>/index.mjs` and its lazy chunks: the entry with all dependencies, the AWS SDK included, so that Lambda runs what was
 * tested. Returns the size in bytes and the bundled packages. Rejects with esbuild's messages.
 */
export async function bundleFunction(
  entry: string,
  outputFolder: string,
): Promise<{ readonly bytes: number; readonly packages: readonly string[] }> {
  const { metafile } = await build({
    entryPoints: { index: join(PROJECT, entry) },
    outdir: outputFolder,
    outExtension: { '.js': '.mjs' },
    // Dynamic imports become chunks, so that a cold start does not parse them.
    splitting: true,
    ...BUNDLE_OPTIONS,
    plugins: [...(entry.endsWith('/lambda.ts') ? [noMetadataEndpoint] : []), ...BUNDLE_OPTIONS.plugins],
    metafile: true,
  })
  const bytes = Object.values(metafile.outputs).reduce((sum, output) => sum + output.bytes, 0)
  const packages = Object.keys(metafile.inputs).flatMap(
    (path) => /node_modules\/((?:@[^/]+\/)?[^/]+)\/(?!.*node_modules\/)/.exec(path)?.[1] ?? [],
  )
  return { bytes, packages: [...new Set(packages)].toSorted() }
}
