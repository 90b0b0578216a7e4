import type { IFunction } from 'aws-cdk-lib/aws-lambda'

export const FUNCTIONS = ['api', 'chat', 'run', 'place', 'reconciler'] as const
export type FunctionId = (typeof FUNCTIONS)[number]
/** The functions by their names; tasks run the API behind private ingress. */
export type ServiceFunctions = Readonly<Record<Exclude<FunctionId, 'api'>, IFunction>> & { readonly api?: IFunction }

/** Folder of the operator's tools in the bundle of the chat worker. */
export const TOOLS_IN_BUNDLE = 'tools'

export const FUNCTION_ENTRIES: Readonly<Record<FunctionId, string>> = {
  api: 'services/entries/aws/api/lambda.ts',
  chat: 'services/entries/aws/chat/lambda.ts',
  run: 'services/entries/aws/run/lambda.ts',
  place: 'services/entries/aws/place/lambda.ts',
  reconciler: 'services/entries/aws/reconcile/lambda.ts',
}

/**
 * Memory, and with it the share of a processor. Functions are billed by memory and mostly wait: the API and the chat worker for a model, the run worker for
 * code.
 */
export const FUNCTION_MEMORY_MIB: Readonly<Record<FunctionId, number>> = { api: 384, chat: 384, run: 512, place: 512, reconciler: 512 }

/** A fixed name, so that roles and log groups can refer to a function before it exists. */
export const functionName = (stage: string, id: FunctionId): string => `cellblock-${stage}-${id}`
