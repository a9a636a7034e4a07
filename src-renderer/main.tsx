import './styles.css'
import { render } from 'solid-js/web'
import { z } from 'zod'
import { openBrowser } from './api/browser-access.ts'
import { App } from './app.tsx'
import { takeLink } from './routes/sign-in/one-time-link.ts'
import { changeLanguage, languageSetting, loadTexts } from './lib/language.ts'
import { OpenLinkScreen } from './shell/OpenLinkScreen.tsx'

// Schemas would otherwise try `new Function`, which the page's content security policy refuses with a report.
z.config({ jitless: true })
changeLanguage(languageSetting())
takeLink()
await loadTexts()
const access = window.deckhand === undefined ? await openBrowser() : 'open'
const mayOpen = access === 'open' || access === 'sign_in'
render(
  () => (mayOpen ? <App needsSignIn={access === 'sign_in'} /> : <OpenLinkScreen isUsed={access === 'used'} />),
  document.getElementById('app')!,
)
