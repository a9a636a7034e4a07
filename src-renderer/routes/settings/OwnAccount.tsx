import { createSignal, Show } from 'solid-js'
import { MIN_PASSWORD_CHARS, type Person } from '../../../src-main/contract/auth-api.ts'
import { keepPageKey } from '../../api/browser-access.ts'
import { useAction } from '../../api/mutations.ts'
import { issueOf, sentenceOf } from '../../api/problem.ts'
import { useSession } from '../../api/SessionProvider.tsx'
import { toastError } from '../../api/toast-error.ts'
import { t } from '../../lib/language.ts'
import { Button } from '../../ui/Button.tsx'
import { FormDialog } from '../../ui/FormDialog.tsx'
import { Panel } from '../../ui/Panel.tsx'
import { Row } from '../../ui/Row.tsx'
import { TextField } from '../../ui/TextField.tsx'
import { toast } from '../../ui/Toasts.tsx'

/** The account with which this browser is signed in. */
export function OwnAccount(props: { person: Person }) {
  const session = useSession()!
  const signOut = useAction('signOut')
  const [isChanging, setChanging] = createSignal(false)
  const leave = () => signOut.run({}).then(() => session.refresh(), toastError)
  return (
    <Panel title={t('settings.people.account')} flush>
      <Row label={props.person.name} hint={t(`settings.people.roleHints.${props.person.role}`)}>
        <Button onClick={() => setChanging(true)}>{t('settings.people.changePassword')}</Button>
        <Button onClick={() => void leave()} busy={signOut.isRunning}>
          {t('signIn.signOut')}
        </Button>
      </Row>
      <Show when={isChanging()}>
        <PasswordDialog onClose={() => setChanging(false)} />
      </Show>
    </Panel>
  )
}

function PasswordDialog(props: { onClose: () => void }) {
  const change = useAction('changePassword')
  const [current, setCurrent] = createSignal('')
  const [next, setNext] = createSignal('')
  const [wasTried, setTried] = createSignal(false)
  const isShort = () => [...next()].length < MIN_PASSWORD_CHARS
  const nextProblem = () =>
    issueOf(change.error, 'newPassword') ?? (wasTried() && isShort() ? t('signIn.passwordShort', { count: MIN_PASSWORD_CHARS }) : null)
  const currentProblem = () => {
    if (wasTried() && current() === '') return t('signIn.passwordMissing')
    return change.error !== null && nextProblem() === null ? sentenceOf(change.error) : null
  }
  const send = async () => {
    setTried(true)
    if (current() === '' || isShort()) return
    try {
      keepPageKey(await change.run({ body: { currentPassword: current(), newPassword: next() } }))
      toast({ tone: 'ok', text: t('settings.people.passwordChanged') })
      props.onClose()
    } catch {
      // The problem is shown at its field.
    }
  }
  return (
    <FormDialog
      size="sm"
      title={t('settings.people.changePassword')}
      description={t('settings.people.changePasswordText')}
      submit={t('settings.people.changePassword')}
      isRunning={change.isRunning}
      onClose={props.onClose}
      onSubmit={() => void send()}
    >
      <TextField
        label={t('settings.people.currentPassword')}
        type="password"
        autocomplete="current-password"
        value={current()}
        onValue={setCurrent}
        problem={currentProblem()}
      />
      <TextField
        label={t('settings.people.newPassword')}
        type="password"
        autocomplete="new-password"
        hint={t('signIn.passwordHint', { count: MIN_PASSWORD_CHARS })}
        value={next()}
        onValue={setNext}
        problem={nextProblem()}
      />
    </FormDialog>
  )
}
