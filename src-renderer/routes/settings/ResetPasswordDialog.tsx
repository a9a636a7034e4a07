import { createSignal } from 'solid-js'
import { MIN_PASSWORD_CHARS, type Person } from '../../../src-main/contract/auth-api.ts'
import { useAction } from '../../api/mutations.ts'
import { issueOf, sentenceOf } from '../../api/problem.ts'
import { t } from '../../lib/language.ts'
import { FormDialog } from '../../ui/FormDialog.tsx'
import { TextField } from '../../ui/TextField.tsx'

/** Sets another password for somebody who forgot theirs. Only in the app's own window. */
export function ResetPasswordDialog(props: { person: Person; onClose: () => void; onReset: () => void }) {
  const reset = useAction('resetPassword')
  const [password, setPassword] = createSignal('')
  const [wasTried, setTried] = createSignal(false)
  const isShort = () => [...password()].length < MIN_PASSWORD_CHARS
  const problem = () =>
    issueOf(reset.error, 'password') ??
    (wasTried() && isShort() ? t('signIn.passwordShort', { count: MIN_PASSWORD_CHARS }) : null) ??
    (reset.error === null ? null : sentenceOf(reset.error))
  const send = async () => {
    setTried(true)
    if (isShort()) return
    try {
      await reset.run({ params: { personId: props.person.id }, body: { password: password() } })
      props.onReset()
      props.onClose()
    } catch {
      // The problem is shown at its field.
    }
  }
  return (
    <FormDialog
      size="sm"
      title={t('settings.people.resetTitle', { name: props.person.name })}
      description={t('settings.people.resetText')}
      submit={t('settings.people.resetConfirm')}
      isRunning={reset.isRunning}
      onClose={props.onClose}
      onSubmit={() => void send()}
    >
      <TextField
        label={t('settings.people.newPassword')}
        type="password"
        autocomplete="new-password"
        hint={t('signIn.passwordHint', { count: MIN_PASSWORD_CHARS })}
        value={password()}
        onValue={setPassword}
        problem={problem()}
      />
    </FormDialog>
  )
}
