import { createAwsApp } from './aws-app.ts'
import { createStreamHandler } from '../../../http/function-url/stream-handler.ts'

/** The handler of a function URL with response streaming. */
export const handler = createStreamHandler(createAwsApp().fetch)
