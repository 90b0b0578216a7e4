/** Languages that executions can have. Those besides Python run in a session that keeps its state between executions. */
export const EXECUTION_LANGUAGES = ['python', 'bash', 'javascript', 'typescript', 'r'] as const
export type ExecutionLanguage = (typeof EXECUTION_LANGUAGES)[number]

/** The first line that makes a Python notebook run a cell of another language. */
export const CELL_MAGICS: Readonly<Record<ExecutionLanguage, string>> = {
  python: '',
  bash: '%%bash\n',
  javascript: '%%script node\n',
  typescript: '%%script node --input-type=module-typescript\n',
  r: '%%script R --no-echo --vanilla\n',
}
