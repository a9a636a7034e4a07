import '@testing-library/jest-dom/vitest'
import { cleanup, configure } from '@solidjs/testing-library'
import { afterEach } from 'vitest'
import { LANGUAGES } from '../../resources/locales/texts.ts'
import { changeLanguage, loadTexts } from '../lib/language.ts'
import { dismissAllToasts } from '../ui/Toasts.tsx'

// Ends what would never come, and is not to be what a busy machine is late for.
configure({ asyncUtilTimeout: 60_000 })

// A test may change the language and look at once.
await Promise.all(LANGUAGES.map((language) => loadTexts(language)))

// Files share the modules of the page, and so what these remember.
afterEach(() => {
  cleanup()
  // What Kobalte says to screen readers stays for seconds in the page that files share.
  for (const said of document.querySelectorAll('[data-live-announcer] [role=log]')) said.replaceChildren()
  dismissAllToasts()
  changeLanguage('system')
  const keys = Object.keys(localStorage)
  localStorage.clear()
  sessionStorage.clear()
  for (const key of keys) dispatchEvent(new StorageEvent('storage', { key }))
})

// What jsdom leaves out because it has no layout.
globalThis.ResizeObserver ??= class {
  observe() {}
  unobserve() {}
  disconnect() {}
}
Element.prototype.scrollIntoView ??= () => {}
window.scrollTo = () => {}
window.matchMedia ??= (query: string) =>
  Object.assign(new EventTarget(), {
    matches: false,
    media: query,
    onchange: null,
    addListener() {},
    removeListener() {},
  })
// A listed scroller without layout is zero high and would show no rows.
for (const [height, width] of [
  ['offsetHeight', 'offsetWidth'],
  ['clientHeight', 'clientWidth'],
] as const) {
  Object.defineProperty(HTMLElement.prototype, height, { configurable: true, get: () => 600 })
  Object.defineProperty(HTMLElement.prototype, width, { configurable: true, get: () => 800 })
}
