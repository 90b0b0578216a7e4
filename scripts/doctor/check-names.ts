/** Checks of this machine. */
export const LOCAL_CHECKS = [
  'Node',
  'Packages',
  'Machine',
  'Kernel',
  'Docker',
  'Engine',
  'Sandbox image',
  'Sandbox files',
  'Port',
  'Disk',
  'Image disk',
] as const

/** Checks of a deployment. docs/deploy.md says what each of them proves. */
export const ACCOUNT_CHECKS = [
  'Account',
  'Fargate vCPUs',
  'Fargate Spot vCPUs',
  'Lambda concurrency',
  'CodeBuild builds',
  'Stacks',
  'Endpoints',
  'Other endpoints',
  'Other containers',
  'Service role',
  'DNS firewall',
  'Network gateway',
  'Entry',
  'Origin',
  'Canary',
  'Backups',
  'Image',
  'Stored images',
  'Warm pool',
  'Sandbox',
  'Network',
  'Internet',
  'Names',
  'Credentials',
  'Foreign bucket',
  'Neighbours',
  'Worker',
  'Streaming',
  'Task events',
  'Long call',
  'Page',
  'Session',
  'Uploads',
  'Large JSON',
  'Preflight',
  'Page files',
  'Empty answers',
] as const

/** Checks of an account before the first stack of a deployment. */
export const DEPLOY_CHECKS = ['VPCs', 'Zones', 'Bootstrap', 'Models secret'] as const

export type CheckName = (typeof LOCAL_CHECKS)[number] | (typeof ACCOUNT_CHECKS)[number] | (typeof DEPLOY_CHECKS)[number]
