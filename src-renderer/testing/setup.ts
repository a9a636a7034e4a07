import '@testing-library/jest-dom/vitest'
import { cleanup, configure } from '@solidjs/testing-library'
import { afterEach, vi } from 'vitest'
import { LANGUAGES } from '../../resources/locales/texts.ts'
import { changeLanguage, loadTexts } from '../lib/language.ts'
import { dismissAllToasts } from '../ui/Toasts.tsx'

// Long enough for a busy machine. It only ends waits that would never end.
configure({ asyncUtilTimeout: 60_000 })

// A test may change the language and check the texts at once.
await Promise.all(LANGUAGES.map((language) => loadTexts(language)))

// Test files share the page's modules, and so their state.
afterEach(() => {
  vi.useRealTimers()
  cleanup()
  // Kobalte's announcements for screen readers stay in the page for seconds.
  for (const said of document.querySelectorAll('[data-live-announcer] [role=log]')) said.replaceChildren()
  dismissAllToasts()
  changeLanguage('system')
  const keys = Object.keys(localStorage)
  localStorage.clear()
  sessionStorage.clear()
  for (const key of keys) dispatchEvent(new StorageEvent('storage', { key }))
})

// Parts of the DOM that jsdom lacks, because it has no layout.
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
// Without a layout, a virtual list has no height and would show no rows.
for (const [height, width] of [
  ['offsetHeight', 'offsetWidth'],
  ['clientHeight', 'clientWidth'],
] as const) {
  Object.defineProperty(HTMLElement.prototype, height, { configurable: true, get: () => 600 })
  Object.defineProperty(HTMLElement.prototype, width, { configurable: true, get: () => 800 })
}
