import { useEffect, useState } from 'preact/hooks'
import { AppPreview, FIRST_PORT, isAppOpen, type AppState } from '../state/ports.ts'
import { Icon } from '../render/icons.tsx'

/** A program with another origin than this page: it keeps its own storage, and cannot lead this page elsewhere. */
const SANDBOX = 'allow-scripts allow-same-origin allow-forms allow-popups allow-downloads allow-modals'

function stateText(state: AppState): string {
  if (state.kind === 'loading') return 'Loading …'
  if (state.kind === 'shown') return `Port ${state.port}`
  return state.message ?? 'Publish the port on which a program in the sandbox listens.'
}

/** A web app that code has started in the container of the chat. */
export function AppPanel({ containerId }: { readonly containerId: string }) {
  const [preview] = useState(() => new AppPreview(containerId))
  useEffect(() => void preview.load(), [preview])
  const state = preview.state.value
  return (
    <section class="app-panel" aria-label="App">
      <header>
        <h2>App</h2>
        <span role="status">{stateText(state)}</span>
        {state.kind === 'shown' && (
          <>
            <button type="button" class="plain" onClick={() => void preview.publish(state.port)}>
              Reload
            </button>
            <button type="button" class="plain" onClick={() => void preview.open(state.port).catch(() => undefined)}>
              Open in a tab
            </button>
            <button type="button" class="plain" onClick={() => void preview.unpublish(state.port)}>
              Unpublish
            </button>
          </>
        )}
        <button type="button" class="icon-button" onClick={() => (isAppOpen.value = false)} title="Hide the app">
          <Icon name="close" />
          <span class="hidden">Hide the app</span>
        </button>
      </header>
      {state.kind === 'shown' && <iframe key={state.url} title={`App on port ${state.port}`} src={state.url} sandbox={SANDBOX} />}
      {state.kind === 'none' && <PortForm onPort={(port) => void preview.publish(port)} />}
    </section>
  )
}

function PortForm({ onPort }: { readonly onPort: (port: number) => void }) {
  const [port, setPort] = useState(FIRST_PORT)
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        onPort(port)
      }}
    >
      <label>
        Port{' '}
        <input type="number" min={1} max={65_535} required value={port} onInput={(event) => setPort(event.currentTarget.valueAsNumber)} />
      </label>
      <button type="submit">Publish</button>
    </form>
  )
}
