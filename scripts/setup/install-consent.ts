import { createInterface } from 'node:readline/promises'
import { SetupError } from './progress.ts'

export interface InstallConsent {
  /** Resolves if these Debian packages may be installed as root. Throws SetupError if the user refuses. */
  readonly confirm: (packages: readonly string[]) => Promise<void>
  /** `--install`: no question. */
  readonly grant: () => void
}

export interface ConsentOptions {
  /** Standard input and error are a terminal. Without one there is no question, so that scripts and CI do not block. */
  readonly isTerminal: boolean
  readonly ask: (question: string) => Promise<string>
}

/** Asks once per command, yes by default; later installations of the same command use that answer. */
export function createInstallConsent({ isTerminal, ask }: ConsentOptions): InstallConsent {
  let hasAgreed = !isTerminal
  return {
    grant: () => {
      hasAgreed = true
    },
    async confirm(packages) {
      if (hasAgreed) return
      const answer = await ask(`  Install ${packages.join(' ')} as root with apt-get, and what later steps of this command need? [Y/n] `)
      if (!/^(y|yes)?$/i.test(answer.trim()))
        throw new SetupError(`Not installed: ${packages.join(' ')}. Install them yourself, or run the command again and agree.`)
      hasAgreed = true
    },
  }
}

async function askInTerminal(question: string): Promise<string> {
  const terminal = createInterface({ input: process.stdin, output: process.stderr })
  try {
    return await terminal.question(question)
  } finally {
    terminal.close()
  }
}

/** The consent of this process's user. */
export const terminalConsent = createInstallConsent({
  isTerminal: process.stdin.isTTY && process.stderr.isTTY,
  ask: askInTerminal,
})
