/** Languages of cells, by their names on the wire. Each has a session in the container that keeps its state. Images differ in what they have. */
export const LANGUAGES: Readonly<Record<string, string>> = {
  python: 'Python',
  bash: 'Bash',
  javascript: 'JavaScript',
  typescript: 'TypeScript',
  r: 'R',
}
