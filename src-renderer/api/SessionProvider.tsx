import { type Accessor, createContext, createSignal, type JSX, Match, Switch, useContext } from 'solid-js'
import type { Person } from '../../src-main/contract/auth-api.ts'
import { ApiError, type Client, createClient } from './client.ts'

export type Session = {
  client: Client
  /** Who is signed in. null: this page needs no sign-in, or nobody is. */
  person: Accessor<Person | null>
  /** Asks the server again. The screens appear or go by its answer. */
  refresh: () => Promise<void>
}

/** Why the screens are not shown. `problem`: the accounts cannot be read. */
export type SignedOut = { hasOwner: boolean; problem: unknown }

type State = { is: 'asking' } | { is: 'in'; person: Person | null } | ({ is: 'out' } & SignedOut)

/** Tests of screens provide their own. */
export const SessionContext = createContext<Session>()

/** undefined outside of a SessionProvider, as in tests of screens. */
export function useSession(): Session | undefined {
  return useContext(SessionContext)
}

/**
 * Shows the screens, or `signIn` while nobody is signed in. The URL stays, so that the person arrives at the page they asked for.
 * This is the only place that decides it: at the start, and whenever a response says that the session has ended.
 */
export function SessionProvider(props: {
  /** The app's own window needs no sign-in. */
  inApp: boolean
  /** Ask at the start who is signed in. */
  isNeeded: boolean
  signIn: (state: SignedOut) => JSX.Element
  /** There is a one-time link in the address. It is shown before anything else. */
  hasLink: () => boolean
  children: JSX.Element
}) {
  const client = createClient(undefined, () => void refresh())
  const [state, setState] = createSignal<State>(props.isNeeded ? { is: 'asking' } : { is: 'in', person: null })
  let asked: Promise<void> | null = null

  /** Many requests fail at once when a session ends: one question is enough. */
  function refresh(): Promise<void> {
    asked ??= ask().finally(() => (asked = null))
    return asked
  }

  async function ask(): Promise<void> {
    if (props.inApp) return
    try {
      const { person, hasOwner } = await client.call('getSignIn')
      setState(person === null ? { is: 'out', hasOwner, problem: null } : { is: 'in', person })
    } catch (thrown) {
      // 404: nobody signs in here. No answer at all: the screens say that the server is gone.
      const isServed = thrown instanceof ApiError && thrown.status !== 404 && thrown.status !== 0
      setState(isServed ? { is: 'out', hasOwner: true, problem: thrown } : { is: 'in', person: null })
    }
  }

  if (props.isNeeded) void refresh()
  const person = () => {
    const now = state()
    return now.is === 'in' ? now.person : null
  }
  const signedOut = (): SignedOut | null => {
    const now = state()
    if (now.is === 'out') return now
    return now.is === 'in' && props.hasLink() ? { hasOwner: true, problem: null } : null
  }
  return (
    <SessionContext.Provider value={{ client, person, refresh }}>
      <Switch>
        <Match when={signedOut()}>{(why) => props.signIn(why())}</Match>
        <Match when={state().is === 'in'}>{props.children}</Match>
      </Switch>
    </SessionContext.Provider>
  )
}
