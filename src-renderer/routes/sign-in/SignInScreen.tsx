import { createResource, createSignal, type JSX, Match, Show, Switch } from 'solid-js'
import { MIN_PASSWORD_CHARS } from '../../../src-main/contract/auth-api.ts'
import { keepPageKey } from '../../api/browser-access.ts'
import { isNoSuchThing, issueOf, problemOf, sentenceOf } from '../../api/problem.ts'
import { type SignedOut, useSession } from '../../api/SessionProvider.tsx'
import { t } from '../../lib/language.ts'
import { Button } from '../../ui/Button.tsx'
import { Checkbox } from '../../ui/Checkbox.tsx'
import { ErrorState } from '../../ui/ErrorState.tsx'
import { Mark } from '../../ui/Mark.tsx'
import { TextField } from '../../ui/TextField.tsx'
import { dropLink, linkToken } from './one-time-link.ts'

/** In place of all screens, in a browser where nobody is signed in or that was opened with a one-time link. */
export function SignInScreen(props: SignedOut) {
  const session = useSession()!
  return (
    <main class="scroll-quiet h-full overflow-y-auto">
      <div class="mx-auto flex min-h-full w-full max-w-sm flex-col justify-center gap-6 px-6 py-10">
        <div class="flex items-center gap-3">
          <Mark size={32} />
          <span class="text-lg font-semibold tracking-tight text-ink">Deckhand</span>
        </div>
        <Switch fallback={<SignInForm />}>
          <Match when={props.problem}>
            <ErrorState problem={problemOf(props.problem)} onRetry={() => void session.refresh()} />
          </Match>
          <Match when={linkToken()}>{(token) => <Invited link={token()} />}</Match>
          <Match when={!props.hasOwner}>
            <Head title={t('signIn.noOwner.title')} text={t('signIn.noOwner.text')} />
            <ul class="-mt-3 flex list-disc flex-col gap-2 pl-5 text-sm text-ink-2">
              <li>{t('signIn.noOwner.app')}</li>
              <li>{t('signIn.noOwner.headless')}</li>
            </ul>
          </Match>
        </Switch>
      </div>
    </main>
  )
}

function Head(props: { title: string; text?: string }) {
  return (
    <header class="flex flex-col gap-1.5">
      <h1 class="text-xl font-semibold tracking-tight text-ink">{props.title}</h1>
      <Show when={props.text}>
        <p class="text-sm text-ink-2 text-pretty">{props.text}</p>
      </Show>
    </header>
  )
}

function SignInForm() {
  const session = useSession()!
  return (
    <>
      <Head title={t('signIn.title')} />
      <Credentials
        submit={t('signIn.submit')}
        send={(username, password) => session.client.call('signIn', { body: { username, password } }).then(keepPageKey)}
      />
    </>
  )
}

/** Somebody opened a setup link or an invitation. */
function Invited(props: { link: string }) {
  const session = useSession()!
  const [found] = createResource(
    () => props.link,
    (link) =>
      session.client.call('checkLink', { body: { link } }).then(
        (answer) => ({ answer, thrown: null }),
        (thrown: unknown) => ({ answer: null, thrown }),
      ),
  )
  const text = () => {
    const { isSetup, invitedBy } = found()!.answer!
    if (isSetup) return t('signIn.setupText')
    return invitedBy === null ? t('signIn.invitedText') : t('signIn.invitedByText', { name: invitedBy })
  }
  return (
    <>
      <Show when={found()?.thrown}>
        {(thrown) => (
          <>
            <Head title={t('signIn.linkBad')} text={sentenceOf(thrown())} />
            <Button onClick={dropLink}>{session.person() === null ? t('signIn.toSignIn') : t('signIn.toDeckhand')}</Button>
          </>
        )}
      </Show>
      <Show when={found()?.answer}>
        {(answer) => (
          <>
            <Head title={answer().isSetup ? t('signIn.setupTitle') : t('signIn.invitedTitle')} text={text()} />
            <Show when={session.person()}>
              {(person) => (
                <p class="rounded-md bg-warn-soft px-3 py-2 text-sm text-ink">{t('signIn.alreadyIn', { name: person().name })}</p>
              )}
            </Show>
            <Credentials
              isNew
              submit={t('signIn.create')}
              send={(name, password) => session.client.call('signUp', { body: { link: props.link, name, password } }).then(keepPageKey)}
            />
            <Show when={session.person()}>
              <Button variant="ghost" onClick={dropLink}>
                {t('signIn.toDeckhand')}
              </Button>
            </Show>
          </>
        )}
      </Show>
    </>
  )
}

function Credentials(props: { isNew?: boolean; submit: string; send: (name: string, password: string) => Promise<unknown> }): JSX.Element {
  const session = useSession()!
  const [name, setName] = createSignal('')
  const [password, setPassword] = createSignal('')
  const [isShown, setShown] = createSignal(false)
  const [isRunning, setRunning] = createSignal(false)
  const [thrown, setThrown] = createSignal<unknown>(null)
  const shortBy = () => props.isNew === true && [...password()].length < MIN_PASSWORD_CHARS
  const [wasTried, setTried] = createSignal(false)

  async function send(): Promise<void> {
    setTried(true)
    setThrown(null)
    if (name().trim() === '' || password() === '' || shortBy()) return
    setRunning(true)
    try {
      await props.send(name(), password())
      dropLink()
      await session.refresh()
    } catch (problem) {
      setThrown(() => problem)
      // Used in the meantime: the form is of no use any more.
      if (!props.isNew && !isNoSuchThing(problem)) setPassword('')
    } finally {
      setRunning(false)
    }
  }
  const nameProblem = () => issueOf(thrown(), 'name') ?? (wasTried() && name().trim() === '' ? t('signIn.nameMissing') : null)
  const passwordProblem = () =>
    issueOf(thrown(), 'newPassword') ??
    issueOf(thrown(), 'password') ??
    (wasTried() && shortBy()
      ? t('signIn.passwordShort', { count: MIN_PASSWORD_CHARS })
      : wasTried() && thrown() === null && password() === ''
        ? t('signIn.passwordMissing')
        : null)
  return (
    <form
      novalidate
      class="flex flex-col gap-4"
      onSubmit={(event) => {
        event.preventDefault()
        void send()
      }}
    >
      <TextField
        isFirst
        label={t('signIn.name')}
        hint={props.isNew ? t('signIn.nameHint') : undefined}
        name="username"
        autocomplete="username"
        autocapitalize="none"
        value={name()}
        onValue={setName}
        problem={nameProblem()}
      />
      <TextField
        label={t('signIn.password')}
        hint={props.isNew ? t('signIn.passwordHint', { count: MIN_PASSWORD_CHARS }) : undefined}
        type={isShown() ? 'text' : 'password'}
        name="password"
        autocomplete={props.isNew ? 'new-password' : 'current-password'}
        value={password()}
        onValue={setPassword}
        problem={passwordProblem()}
      />
      <Checkbox label={t('signIn.showPassword')} checked={isShown()} onChecked={setShown} />
      <Show when={thrown() !== null && nameProblem() === null && passwordProblem() === null}>
        <p role="alert" class="rounded-md bg-bad-soft px-3 py-2 text-sm text-bad">
          {sentenceOf(thrown())}
        </p>
      </Show>
      <Button variant="primary" size="lg" type="submit" busy={isRunning()}>
        {props.submit}
      </Button>
    </form>
  )
}
