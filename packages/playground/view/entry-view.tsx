import type { Entry } from '../state/timeline.ts'
import { AnswerView } from './answer-view.tsx'
import { CellView } from './cell-view.tsx'
import { UserMessage } from './user-message.tsx'

export function EntryView({ entry }: { readonly entry: Entry }) {
  switch (entry.kind) {
    case 'cell':
      return <CellView cell={entry} />
    case 'answer':
      return <AnswerView answer={entry} />
    case 'notice':
      return <p class="notice">{entry.text}</p>
    default:
      return <UserMessage message={entry} />
  }
}
