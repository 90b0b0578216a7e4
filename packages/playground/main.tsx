import { render } from 'preact'
import { messageOf } from './api/call.ts'
import { isAdminOnly, isSignedIn, sharedToken, showsAdmin } from './session.ts'
import { openSession } from './state/sign-in.ts'
import { AdminLoader, SharedLoader } from './view/loaders.tsx'
import { Shell } from './view/shell.tsx'
import { TopBar } from './view/top-bar.tsx'
import { SignInView } from './view/sign-in-view.tsx'

function App({ failure }: { readonly failure: string | null }) {
  if (sharedToken !== null) return <SharedLoader />
  if (isSignedIn.value !== true) return <SignInView failure={failure} />
  return (
    <div class="app">
      <a class="skip" href="#main">
        Skip to the conversation
      </a>
      <TopBar />
      {isAdminOnly() || showsAdmin.value ? <AdminLoader /> : <Shell />}
    </div>
  )
}

const place = document.querySelector('#app')
const failure = sharedToken === null ? await openSession().catch(messageOf) : null
if (place !== null) {
  place.textContent = ''
  render(<App failure={failure} />, place)
}
