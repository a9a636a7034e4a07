import { createMemoryHistory, MemoryRouter, Route } from '@solidjs/router'
import { render } from '@solidjs/testing-library'
import userEvent, { type UserEvent } from '@testing-library/user-event'
import type { Component, JSX } from 'solid-js'
import type { Person } from '../../src-main/contract/auth-api.ts'
import { ApiProvider } from '../api/ApiProvider.tsx'
import { createClient } from '../api/client.ts'
import { type Session, SessionContext } from '../api/SessionProvider.tsx'
import { createBrowserDesktop, type Desktop } from '../platform/desktop.ts'
import { DesktopProvider } from '../platform/DesktopProvider.tsx'
import { Toasts } from '../ui/Toasts.tsx'
import { createFakeRunner, type FakeRunner } from './fake-runner.ts'

export type RenderOptions = {
  /** The route of the screen and the path to open, such as `/jobs/:jobId` and `/jobs/1`. */
  route?: string
  path?: string
  runner?: FakeRunner
  desktop?: Partial<Desktop>
  /** Who is signed in. Left out: this page needs no sign-in. */
  person?: Person
  /** More screens by their routes, for tests that navigate. */
  more?: Record<string, Component>
}

export type Rendered = ReturnType<typeof render> & { runner: FakeRunner; user: UserEvent; path: () => string }

/** Renders a screen with the real client, cache, events and router, against a fake runner. */
export function renderScreen(screen: Component, options: RenderOptions = {}): Rendered {
  const runner = options.runner ?? createFakeRunner()
  const history = createMemoryHistory()
  history.set({ value: options.path ?? '/', replace: true, scroll: false })
  const client = createClient(runner.fetch)
  const session: Session = { client, person: () => options.person ?? null, refresh: () => Promise.resolve() }
  const view = render(() => (
    <DesktopProvider desktop={{ ...createBrowserDesktop(), ...options.desktop }}>
      <SessionContext.Provider value={session}>
        <ApiProvider client={client}>
          <MemoryRouter history={history}>
            <Route path={options.route ?? '/'} component={screen} />
            {Object.entries(options.more ?? {}).map(([route, other]) => (
              <Route path={route} component={other} />
            ))}
            <Route path="*" component={() => null} />
          </MemoryRouter>
          <Toasts />
        </ApiProvider>
      </SessionContext.Provider>
    </DesktopProvider>
  ))
  return Object.assign(view, { runner, user: userEvent.setup(), path: () => history.get() })
}

/** Renders a part of the design system alone. */
export function renderPart(part: () => JSX.Element): ReturnType<typeof render> & { user: UserEvent } {
  return Object.assign(render(part), { user: userEvent.setup() })
}
