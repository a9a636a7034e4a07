import '@testing-library/jest-dom/vitest'
import { cleanup, configure } from '@solidjs/testing-library'
import { afterEach } from 'vitest'

// Ends what would never come, and is not to be what a busy machine is late for.
configure({ asyncUtilTimeout: 20_000 })

afterEach(() => {
  cleanup()
  localStorage.clear()
  sessionStorage.clear()
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
