import { Argument, type Command } from 'commander'
import type { CommandContext } from '../io.ts'
import { examples } from '../json-output.ts'

/** Every path of words that names a command, with the words and options that may follow it. */
function wordsByPath(command: Command, path = ''): readonly (readonly [path: string, words: readonly string[]])[] {
  const words = [...command.commands.map((child) => child.name()), ...command.options.flatMap(({ long }) => (long ? [long] : [])), '--help']
  return [[path, words], ...command.commands.flatMap((child) => wordsByPath(child, `${path} ${child.name()}`.trim()))]
}

const SHELLS = ['bash', 'fish', 'zsh'] as const
type Shell = (typeof SHELLS)[number]

const script = (program: Command, shell: Shell): string => (shell === 'fish' ? fishScript(program) : bashScript(program, shell))

/** Completes commands and options, and file names. */
function fishScript(program: Command): string {
  const cases = wordsByPath(program).map(
    ([path, words]) => `      case '${path}'\n        printf '%s\\n' ${words.join(' ')}\n        return`,
  )
  return `function __cellblock_words
  set -l words (commandline -opc)
  set -e words[1]
  set -l path
  for word in $words
    string match -q -- '-*' $word; or set -a path $word
  end
  while true
    switch "$path"
${cases.join('\n')}
    end
    set -e path[-1]
  end
end
complete -c cellblock -a '(__cellblock_words)'
`
}

/** A shell function that completes commands and options, and file names where no word fits. zsh runs it through bashcompinit. */
function bashScript(program: Command, shell: 'bash' | 'zsh'): string {
  const cases = wordsByPath(program).map(([path, words]) => `    "${path}") words="${words.join(' ')}" ;;`)
  return `${shell === 'zsh' ? 'autoload -U +X bashcompinit && bashcompinit\n' : ''}_cellblock() {
  local words path="" part
  for part in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "$part" in -*) ;; *) path="\${path:+$path }$part" ;; esac
  done
  while :; do
    case "$path" in
${cases.join('\n')}
    *" "*) path="\${path% *}"; continue ;;
    *) path=""; continue ;;
    esac
    break
  done
  COMPREPLY=($(compgen -W "$words" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _cellblock cellblock
`
}

export function addCompletion(program: Command, { io }: CommandContext): void {
  program
    .command('completion')
    .summary('print a completion script for bash, fish or zsh')
    .description('Prints a completion script. Load it in your profile: source <(cellblock completion bash)')
    .addHelpText(
      'after',
      examples(
        'cellblock completion zsh >> ~/.zshrc',
        "echo 'source <(cellblock completion bash)' >> ~/.bashrc",
        'cellblock completion fish > ~/.config/fish/completions/cellblock.fish',
      ),
    )
    .addArgument(new Argument('<shell>').choices(SHELLS))
    .action((shell: Shell) => io.out(script(program, shell)))
}
