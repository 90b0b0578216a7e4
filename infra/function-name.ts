export const FUNCTIONS = ['api', 'chat', 'run', 'place', 'reconciler'] as const
export type FunctionId = (typeof FUNCTIONS)[number]

/** Fixed, so that roles and log groups can name a function before it exists. */
export const functionName = (stage: string, id: FunctionId): string => `cellblock-${stage}-${id}`
