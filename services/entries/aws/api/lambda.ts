import { streamHandle } from 'hono/aws-lambda'
import { createAwsApp } from './aws-app.ts'

/** The handler of a function URL with response streaming. */
export const handler = streamHandle(createAwsApp())
