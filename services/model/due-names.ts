/** Kinds of rows that workers advance in steps. `JOB_MESSAGES` and `JOB_KINDS` have an entry for each. `container`: its hibernation. */
export const JOB_NAMES = ['execution', 'response', 'delivery', 'container'] as const
export type JobName = (typeof JOB_NAMES)[number]

/** Kinds of rows that are due for another reason, such as the end of their retention. */
export type ResourceName = 'file' | 'skill' | 'upload' | 'conversation' | 'tenant'
const RESOURCES: Readonly<Record<ResourceName, true>> = { file: true, skill: true, upload: true, conversation: true, tenant: true }

/** Kinds of rows that can be due. */
export type DueName = JobName | ResourceName | 'sandbox'

export const isJobName = (name: string): name is JobName => (JOB_NAMES as readonly string[]).includes(name)
export const isDueName = (name: string): name is DueName => isJobName(name) || name === 'sandbox' || Object.hasOwn(RESOURCES, name)
