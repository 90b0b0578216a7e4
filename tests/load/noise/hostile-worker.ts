import { getPriority, setPriority } from 'node:os'
import { parentPort, workerData } from 'node:worker_threads'
import { allForms } from './all-forms.ts'
import type { Hostile } from './hostile-forms.ts'

// The load has a separate thread, so that making it does not delay the measurements. Linux counts priorities by thread: this one has no precedence.
if (getPriority() < 0) setPriority(0)
const { form, isWhole, hostile } = workerData as { readonly form: string; readonly isWhole: boolean; readonly hostile: Hostile }
await allForms(isWhole)
  .find(({ name }) => name === form)
  ?.start(hostile)
parentPort?.postMessage('started', [])
