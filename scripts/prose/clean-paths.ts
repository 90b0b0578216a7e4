/** Folders and files that pass the prose check and must stay so. `npm test` checks these; add a path as soon as it is clean. */
export const CLEAN_PATHS: readonly string[] = [
  'README.md',
  'CONTRIBUTING.md',
  'SECURITY.md',
  'CHANGELOG.md',
  'AGENTS.md',
  'docs/adr',
  'docs/architecture.md',
  'docs/configuration.md',
  'docs/glossary.md',
  'docs/tools.md',
  'docs/walkthrough.md',
  'scripts/prose',
]
