export const FUNCTIONS = ['api', 'chat', 'run', 'place', 'reconciler'] as const
export type FunctionId = (typeof FUNCTIONS)[number]

/** A fixed name, so that roles and log groups can refer to a function before it exists. */
export const functionName = (stage: string, id: FunctionId): string => `cellblock-${stage}-${id}`
