import { signal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { isBusy } from '../state/conversation.ts'
import { refreshVariables, variables, variablesFailure } from '../state/kernel.ts'
import { Icon } from '../render/icons.tsx'
import { PlainTable } from './plain-table.tsx'

export const isVariablesOpen = signal(false)

/** The variables of Python, read again after each run. */
export function VariablesView() {
  useEffect(() => void (isBusy.value || refreshVariables()), [isBusy.value])
  return (
    <section class="variables" aria-label="Variables">
      <header>
        <h2>Variables</h2>
        <button type="button" class="icon-button small" onClick={() => void refreshVariables()} title="Read again">
          <Icon name="retry" />
          <span class="hidden">Read the variables again</span>
        </button>
        <button type="button" class="icon-button small" onClick={() => (isVariablesOpen.value = false)} title="Close">
          <Icon name="close" />
          <span class="hidden">Close the variables</span>
        </button>
      </header>
      {variablesFailure.value !== null && <p class="failure">{variablesFailure.value}</p>}
      {variables.value.length === 0 ? (
        <p class="empty">No variables yet.</p>
      ) : (
        <PlainTable label="Variables, table" titles={['Name', 'Type', 'Size', 'Value']}>
          {variables.value.map(({ name, type, size, value }) => (
            <tr key={name}>
              <td>
                <code>{name}</code>
              </td>
              <td>{type}</td>
              <td>{size}</td>
              <td title={value}>{value}</td>
            </tr>
          ))}
        </PlainTable>
      )}
    </section>
  )
}
