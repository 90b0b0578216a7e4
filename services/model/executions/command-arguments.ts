/** The arguments of a login shell that runs one command line. */
export const shellCommand = (line: string): readonly string[] => ['/bin/bash', '-lc', line]

/** The program in the image that does file operations with the rights of user code: `runtime-image/supervisor/cellblock_supervisor/worker/programs/file_operations.py`. */
export const FILE_PROGRAM = ['/usr/bin/python3', '-I', '-S', '/opt/cellblock/cellblock_supervisor/worker/programs/file_operations.py']

/** Whether a command is an operation of this program, and none that a client started. */
export const isFileOperation = (argv: readonly string[]): boolean => FILE_PROGRAM.every((part, index) => argv[index] === part)

const SHELL = /^(?:.*\/)?(?:ba|da|z|k)?sh$/
const TAKES_SCRIPT = /^-[a-zA-Z]*c[a-zA-Z]*$/
/** An option whose value follows, as in `-euo pipefail`. */
const TAKES_NAME = /^[-+][a-zA-Z]*o$/
/** What Linux accepts in one argument, bytes. */
export const MAX_ARGUMENT_BYTES = 128 * 1024 - 1
/** Joins the given number of parts and runs them. Further arguments become those of the script. On one line, so that messages count the script's lines. */
const JOIN_PARTS = '__n=$1; shift; __s=; while [ "$__n" -gt 0 ]; do __s=$__s$1; shift; __n=$((__n-1)); done; eval "unset __s __n; $__s"'

/**
 * The arguments as a sandbox runs them. The script of a shell loses the carriage returns of Windows line ends, and one that is longer than Linux accepts in an
 * argument is passed in parts. Other arguments stay as they are.
 */
export function sandboxArguments(argv: readonly string[]): readonly string[] {
  const at = SHELL.test(argv[0] ?? '') ? argv.findIndex((argument) => TAKES_SCRIPT.test(argument)) + 1 : 0
  const given = argv[at]
  const isOption = (argument: string, index: number): boolean => /^[-+]/.test(argument) || TAKES_NAME.test(argv[index] ?? '')
  if (at === 0 || given === undefined || !argv.slice(1, at).every(isOption)) return argv
  const script = unixLines(given)
  const [name = argv[0] ?? '', ...others] = argv.slice(at + 1)
  if (Buffer.byteLength(script) <= MAX_ARGUMENT_BYTES) return argv.with(at, script)
  const parts = partsOf(script)
  return [...argv.slice(0, at), JOIN_PARTS, name, String(parts.length), ...parts, ...others]
}

/** Browsers send the text of their forms with Windows line ends, which no language needs. */
export const unixLines = (code: string): string => code.replaceAll('\r\n', '\n')

/** Pieces below the maximum, cut between characters. */
function partsOf(text: string): readonly string[] {
  const parts: string[] = []
  // A character has at most three bytes for each of its UTF-16 units.
  const size = Math.floor(MAX_ARGUMENT_BYTES / 3)
  for (let start = 0; start < text.length;) {
    const isBetweenHalves = /[\ud800-\udbff]/.test(text[start + size - 1] ?? '')
    const end = start + size - (isBetweenHalves ? 1 : 0)
    parts.push(text.slice(start, end))
    start = end
  }
  return parts
}
