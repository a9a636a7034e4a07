import { type Accessor, createContext, createEffect, createSignal, type JSX, onCleanup, useContext } from 'solid-js'
import type { DesktopBridge, DesktopState } from '../../src-main/contract/desktop-api.ts'
import { languageSetting } from '../lib/language.ts'
import { createDesktopApi } from './desktop-calls.ts'
import { createAppDesktop, createBrowserDesktop, type Desktop, storeTheme, type Theme } from './desktop.ts'

declare global {
  interface Window {
    deckhand?: DesktopBridge
  }
}

export type DesktopContext = Desktop & {
  /** Whether this is the app's own window. */
  inApp: boolean
  /** null in a browser, and in the app until the desktop has sent its state. */
  state: Accessor<DesktopState | null>
  theme: Accessor<Theme>
  changeTheme: (theme: Theme) => void
}

const Context = createContext<DesktopContext>()

export function useDesktop(): DesktopContext {
  const desktop = useContext(Context)
  if (desktop === undefined) throw new Error('useDesktop outside of DesktopProvider')
  return desktop
}

export function DesktopProvider(props: { desktop?: Desktop; children: JSX.Element }) {
  const desktop =
    props.desktop ?? (window.deckhand === undefined ? createBrowserDesktop() : createAppDesktop(createDesktopApi(window.deckhand)))
  const [state, setState] = createSignal<DesktopState | null>(null)
  const [theme, setTheme] = createSignal<Theme>(desktop.readTheme())
  onCleanup(
    desktop.onState((next) => {
      setState(next)
      setTheme(next.settings.theme)
      storeTheme(next.settings.theme)
    }),
  )
  createEffect(() => {
    const known = state()?.settings.language
    const language = languageSetting()
    if (known !== undefined && known !== language) void desktop.api?.changeSettings({ language })
  })
  createEffect(() => {
    const chosen = theme()
    if (chosen === 'system') delete document.documentElement.dataset.theme
    else document.documentElement.dataset.theme = chosen
  })
  return (
    <Context.Provider
      value={{
        ...desktop,
        inApp: desktop.api !== null,
        state,
        theme,
        changeTheme(next) {
          setTheme(next)
          void desktop.writeTheme(next)
        },
      }}
    >
      {props.children}
    </Context.Provider>
  )
}
