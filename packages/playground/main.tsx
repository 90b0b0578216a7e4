import { render } from 'preact'
import { messageOf } from './api/call.ts'
import { isAdminOnly, isSignedIn, showsAdmin } from './session.ts'
import { openSession } from './state/sign-in.ts'
import { AdminLoader } from './view/admin-loader.tsx'
import { Shell } from './view/shell.tsx'
import { SignInView } from './view/sign-in-view.tsx'

function App({ failure }: { readonly failure: string | null }) {
  if (isSignedIn.value !== true) return <SignInView failure={failure} />
  return isAdminOnly() || showsAdmin.value ? <AdminLoader /> : <Shell />
}

const place = document.querySelector('#app')
const failure = await openSession().catch(messageOf)
if (place !== null) {
  place.textContent = ''
  render(<App failure={failure} />, place)
}
