'use strict'
// A JavaScript session: evaluates cells one after another in one global scope. Fields of a cell come on descriptor 3, each ended by a null
// byte: variables (JSON), folder, language, code. The answer on descriptor 4 is one JSON text, ended by a null byte.

const fs = require('node:fs')
const net = require('node:net')
const path = require('node:path')
const { Writable } = require('node:stream')
const vm = require('node:vm')
const nodeModule = require('node:module')
const { EventEmitter } = require('node:events')
const { Session } = require('node:inspector')
const { inspect } = require('node:util')
const { pathToFileURL } = require('node:url')
const { subscribe } = require('node:diagnostics_channel')
const { toScript } = require('./cell_source.cjs')
const { explain, stackOf, withExplanation } = require('./node_errors.cjs')
const { followProxy } = require('./node_proxy.cjs')
const { renewRandom } = require('./node_random.cjs')

const FIELDS_PER_CELL = 4
/** In place of a language: this process is the copy of another one. */
const RENEW_RANDOM = 'renew random'
const outputs = [process.stdout, process.stderr]
const timer = setTimeout(() => {})
clearTimeout(timer)
const Timeout = timer.constructor
const MAX_RESULT_CHARACTERS = 256 * 1024
const importModuleDynamically = vm.constants.USE_MAIN_CONTEXT_DEFAULT_LOADER

const cellFile = () => path.join(process.cwd(), 'cell.js')
process.argv[1] = cellFile()
globalThis.require = nodeModule.createRequire(cellFile())
// As in a script, also for `if (require.main === module)`.
globalThis.module = require.main = globalThis.require.main = new nodeModule(cellFile())
globalThis.exports = globalThis.module.exports
const assigned = (name) => (value) => Object.defineProperty(globalThis, name, { value, configurable: true, writable: true, enumerable: true })
Object.defineProperty(globalThis, '__filename', { get: cellFile, set: assigned('__filename'), configurable: true })
Object.defineProperty(globalThis, '__dirname', { get: () => process.cwd(), set: assigned('__dirname'), configurable: true })
globalThis.fetch = withExplanation(globalThis.fetch)
// Errors that code prints have the frames of the code. Code may set its own function.
Object.defineProperty(Error, 'prepareStackTrace', { value: stackOf, configurable: true, writable: true })
// The engine's evaluation in REPL mode has no loader for `import()`; this function has Node's.
const load = vm.runInThisContext('(name, options) => import(name, options)', { filename: 'cell.js', importModuleDynamically })
Object.defineProperty(globalThis, '__import', { value: load })

/** The names that a cell imports, as a module has them: a missing one is an error and no undefined variable. */
function exportsOf(found, source, names) {
  for (const name of names) if (!(name in found)) throw new SyntaxError(`The requested module '${source}' does not provide an export named '${name}'`)
  return found
}
Object.defineProperty(globalThis, '__exports', { value: exportsOf })

const importMeta = {
  main: true,
  get url() {
    return pathToFileURL(cellFile()).href
  },
  get filename() {
    return cellFile()
  },
  get dirname() {
    return process.cwd()
  },
  resolve: (name) => (/^[./]/.test(name) ? new URL(name, importMeta.url).href : nodeModule.isBuiltin(name) ? `node:${name.replace(/^node:/, '')}` : pathToFileURL(require.resolve(name)).href),
}
Object.defineProperty(globalThis, '__importMeta', { value: importMeta })

function withoutTypes(code) {
  if (typeof nodeModule.stripTypeScriptTypes !== 'function') throw new Error(`Node ${process.version} cannot run TypeScript.`)
  return nodeModule.stripTypeScriptTypes(code, { mode: 'transform' })
}

const engine = new Session()
engine.connect()
const OBJECT_GROUP = 'cell'
const post = (method, params) => new Promise((resolve, reject) => engine.post(method, params, (error, answer) => (error ? reject(error) : resolve(answer))))

/** The value behind the engine's description of it. */
let handOver
async function valueOf(described) {
  const { objectId, unserializableValue, value } = described
  if (described.type === 'undefined') return undefined
  const argument = objectId ? { objectId } : unserializableValue ? { unserializableValue } : { value }
  handOver ??= (await post('Runtime.evaluate', { expression: '(value) => { globalThis[Symbol.for("cellblock.value")] = value }' })).result.objectId
  await post('Runtime.callFunctionOn', { functionDeclaration: 'function (value) { this(value) }', objectId: handOver, arguments: [argument] })
  const key = Symbol.for('cellblock.value')
  const found = globalThis[key]
  delete globalThis[key]
  return found
}

/** V8's REPL mode: top-level await, and `let`, `const` and `class` may declare a name again. A promise that is the last value is awaited. */
async function run(code) {
  const request = { expression: `${code}\n//# sourceURL=cell.js`, replMode: true, awaitPromise: true, objectGroup: OBJECT_GROUP }
  try {
    const { result, exceptionDetails } = await post('Runtime.evaluate', request)
    if (exceptionDetails) throw await valueOf(exceptionDetails.exception)
    return await valueOf(result)
  } finally {
    await post('Runtime.releaseObjectGroup', { objectGroup: OBJECT_GROUP })
  }
}

/** What V8 says about a module: a script has neither imports nor exports. */
const ABOUT_MODULES = /import statement outside a module|Unexpected token 'export'|'import\.meta' outside a module/

/** How a cell runs: whether as a module, and a function that begins it at once and returns the promise of its value. */
function prepare(written, language) {
  const code = language === 'typescript' ? withoutTypes(written) : written
  try {
    const { script, isModule } = toScript(code)
    return { isModule, begin: () => run(script) }
  } catch (reason) {
    // The engine has the better messages, and may know syntax that the parser does not know yet.
    const begin = () =>
      run(code).catch((error) => {
        throw error instanceof SyntaxError && ABOUT_MODULES.test(error.message) ? new SyntaxError(reason.message) : error
      })
    return { isModule: false, begin }
  }
}

/**
 * Begins a cell in a separate callback: one that starts while the loop ends would be the end of the process. As in a file that Node runs, callbacks of
 * `process.nextTick` run before promises, but in a module after them: Node evaluates a module as the work of a promise.
 */
const inOwnCallback = (isModule, begin) =>
  new Promise((started) => setImmediate(() => (isModule ? queueMicrotask(() => started([begin()])) : started([begin()]))))

function describe(error) {
  explain(error)
  if (!(error instanceof Error) && !(typeof error === 'object' && error !== null && 'stack' in error))
    return { name: 'Uncaught', value: inspect(error), traceback: [] }
  const stack = String(error.stack ?? error)
  const own = stack.split('\n').filter((line) => !/node:(?:internal|vm|inspector)|(?:node_session|cell_source)\.cjs|at new Promise \(<anonymous>\)/.test(line))
  return { name: String(error.name), value: String(error.message), traceback: own }
}

async function inScope(env, cwd, work) {
  const before = Object.fromEntries(Object.keys(env).map((name) => [name, process.env[name]]))
  const folder = process.cwd()
  try {
    if (cwd !== '') process.chdir(cwd)
    Object.assign(process.env, env)
    followProxy()
    return await work()
  } finally {
    for (const [name, value] of Object.entries(before)) {
      if (value === undefined) delete process.env[name]
      else process.env[name] = value
    }
    if (cwd !== '') process.chdir(folder)
  }
}

/** Resolves when what was written before has left the process, whatever code has made of `write`. */
const flushed = (stream) => new Promise((resolve) => (stream.destroyed ? resolve() : Writable.prototype.write.call(stream, '', resolve)))

/** What listens and what it has accepted: a program waits for these, a cell does not. */
const served = new Set()
function serve(handle) {
  served.add(handle)
  handle.once('close', () => served.delete(handle))
  if (cell?.hasValue !== false) handle.unref()
}
subscribe('tracing:net.server.listen:asyncEnd', ({ server }) => serve(server))
subscribe('net.server.socket', ({ socket }) => serve(socket))

/** The promise that the code of a cell awaits. The engine ends the process when it collects one that nothing can settle. */
function hold(value) {
  if (cell) cell.awaited = value
  return value
}
Object.defineProperty(globalThis, '__hold', { value: hold })
const unsettledCells = []

/** Timers, servers and child processes are called for what they do, and have pages of fields. */
function display(value) {
  if (value === undefined) return null
  const isStarted = value instanceof EventEmitter || value instanceof Timeout
  return (isStarted ? `[${value.constructor.name}]` : inspect(value)).slice(0, MAX_RESULT_CHARACTERS)
}

/** The cell that runs, with the functions that end it. */
let cell

/** Runs a cell to its end, as a program: until no timer, operation or child process of its code is left. Returns its value as text. */
async function runToEnd(written, language) {
  const { isModule, begin } = prepare(written, language)
  const { promise, resolve, reject } = Promise.withResolvers()
  const current = { hasValue: false, awaited: undefined, resolve, reject }
  try {
    const [code] = await inOwnCallback(isModule, () => {
      cell = current
      for (const handle of served) handle.ref()
      input.unref()
      return begin().finally(() => void (current.hasValue = true))
    })
    const value = await Promise.race([code, promise])
    for (const handle of served) handle.unref()
    const shown = display(value)
    await promise
    throwExitCode()
    return shown
  } finally {
    if (!current.hasValue) unsettledCells.push(current)
    cell = undefined
    input.ref()
  }
}

/** A program that sets `process.exitCode` fails with it when it ends. */
function throwExitCode() {
  const code = Number(process.exitCode ?? 0)
  process.exitCode = undefined
  if (code === 0) return
  const error = new Error(`exit status ${code}`)
  error.name = 'ExitStatus'
  error.stack = String(error)
  throw error
}

function unsettled() {
  const error = new Error('The cell awaits a promise that nothing can settle.')
  error.stack = String(error)
  return error
}

process.on('beforeExit', () => {
  if (cell?.hasValue) cell.resolve()
  else cell?.reject(unsettled())
})

// As in a program, an error that no code handles ends the cell. Between two cells it is printed. The session continues.
for (const event of ['uncaughtException', 'unhandledRejection'])
  process.on(event, (error) => {
    if (process.listenerCount(event) > 1) return
    if (cell) cell.reject(error)
    else console.error(inspect(error))
  })

async function answer([env, cwd, language, code]) {
  try {
    if (language === RENEW_RANDOM) return renewRandom()
    return { result: await inScope(JSON.parse(env || '{}'), cwd, () => runToEnd(code, language)) }
  } catch (error) {
    return { error: describe(error) }
  }
}

let rest = Buffer.alloc(0)
let fields = []
let turn = Promise.resolve()
// A file stream would block `process.exit` while it waits for the next cell.
const input = new net.Socket({ fd: 3, readable: true, writable: false }).on('data', (chunk) => {
  rest = Buffer.concat([rest, chunk])
  for (let end = rest.indexOf(0); end >= 0; end = rest.indexOf(0)) {
    fields.push(rest.subarray(0, end).toString('utf8'))
    rest = rest.subarray(end + 1)
    if (fields.length < FIELDS_PER_CELL) continue
    const received = fields
    fields = []
    turn = turn.then(async () => {
      const reply = JSON.stringify(await answer(received))
      // Output of a full pipe would otherwise belong to a later cell.
      await Promise.all(outputs.map(flushed))
      fs.writeSync(4, `${reply}\0`)
    })
  }
})
input.on('end', () => turn.then(() => process.exit(0)))
