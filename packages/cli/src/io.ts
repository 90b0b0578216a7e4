import type { ApiClient } from './api-client.ts'

/** What the program reads and writes; `main.ts` connects it to the process. */
export interface Io {
  /** Base folder of relative file names. */
  readonly folder: string
  /** Aborted by Ctrl-C. */
  readonly signal: AbortSignal
  readonly stdin: NodeJS.ReadStream
  /** Whether standard error is a terminal: progress bars and prompts need one. */
  readonly isTerminal: boolean
  /** Standard output: the result of the command. */
  readonly out: (text: string) => void
  /** Standard error: progress, files, errors. */
  readonly note: (text: string) => void
  /** Calls the server with the key from the environment or from `login`. A call throws CliError if no key is known. */
  api(): Promise<ApiClient>
  /** Stores the server and key for later calls, readable by the user only; answers with the file's path. */
  saveLogin(login: Login): Promise<string>
  /** Removes what `saveLogin` stored; answers with the file's path, null if there was none. */
  removeLogin(): Promise<string | null>
  /** Where the key comes from: a variable or a file. Throws CliError if no key is known. */
  keySource(): Promise<string>
  /** The server's address without a check of the key. */
  url(): Promise<string>
}

export interface Login {
  readonly url: string
  readonly apiKey: string
}

/** What a command needs to read its input, reach the server and report its exit code. */
export interface CommandContext {
  readonly io: Io
  /** Sets the exit code of the program; 0 unless a command sets another. */
  readonly exit: (code: number) => void
}
