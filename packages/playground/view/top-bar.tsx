import { isAdminOnly, scopes, showsAdmin } from '../session.ts'
import { Icon, Logo } from '../render/icons.tsx'
import { changeTheme, theme } from '../state/preferences.ts'

/** The parts of the server. The guide and the reference have the same bar. */
export function TopBar() {
  const isAdmin = isAdminOnly() || showsAdmin.value
  return (
    <header class="top-bar">
      <Logo /> <strong>Cellblock</strong>
      <nav aria-label="Cellblock">
        {!isAdminOnly() && (
          <button type="button" aria-current={isAdmin ? undefined : 'page'} onClick={() => (showsAdmin.value = false)}>
            Chat
          </button>
        )}
        <a href="/docs/guide/">Guide</a>
        <a href="/docs">API reference</a>
        {scopes.value.includes('admin') && (
          <button type="button" aria-current={isAdmin ? 'page' : undefined} onClick={() => (showsAdmin.value = true)}>
            Administration
          </button>
        )}
      </nav>
      <button type="button" class="icon-button" onClick={changeTheme} title={`Theme: ${theme.value}`}>
        <Icon name="theme" />
        <span class="hidden">Theme: {theme.value}</span>
      </button>
    </header>
  )
}

/** The same links at the foot of a side bar, for screens that are too narrow for the bar. */
export const DocumentLinks = () => (
  <>
    <a class="plain narrow" href="/docs/guide/">
      <Icon name="book" /> Guide
    </a>
    <a class="plain narrow" href="/docs">
      <Icon name="notebook" /> API reference
    </a>
  </>
)
