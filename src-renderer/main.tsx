import './styles.css'
import { render } from 'solid-js/web'
import { z } from 'zod'
import { App } from './app.tsx'
import { changeLanguage, languageSetting, loadTexts } from './lib/language.ts'

// Schemas would otherwise try `new Function`, which the page's content security policy refuses with a report.
z.config({ jitless: true })
changeLanguage(languageSetting())
await loadTexts()
render(() => <App />, document.getElementById('app')!)
