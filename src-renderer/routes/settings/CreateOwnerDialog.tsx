import { createSignal } from 'solid-js'
import { MIN_PASSWORD_CHARS } from '../../../src-main/contract/auth-api.ts'
import { useAction } from '../../api/mutations.ts'
import { issueOf, sentenceOf } from '../../api/problem.ts'
import { t } from '../../lib/language.ts'
import { FormDialog } from '../../ui/FormDialog.tsx'
import { TextField } from '../../ui/TextField.tsx'

/** Creates the first account, with which its owner signs in from other devices. */
export function CreateOwnerDialog(props: { onClose: () => void; onCreated: () => void }) {
  const create = useAction('createOwner')
  const [name, setName] = createSignal('')
  const [password, setPassword] = createSignal('')
  const [wasTried, setTried] = createSignal(false)
  const shortBy = () => [...password()].length < MIN_PASSWORD_CHARS
  const nameProblem = () => issueOf(create.error, 'name') ?? (wasTried() && name().trim() === '' ? t('signIn.nameMissing') : null)
  const passwordProblem = () =>
    issueOf(create.error, 'password') ?? (wasTried() && shortBy() ? t('signIn.passwordShort', { count: MIN_PASSWORD_CHARS }) : null)
  const otherProblem = () =>
    create.error !== null && nameProblem() === null && passwordProblem() === null ? sentenceOf(create.error) : null
  const send = async () => {
    setTried(true)
    if (name().trim() === '' || shortBy()) return
    try {
      await create.run({ body: { name: name(), password: password() } })
      props.onCreated()
      props.onClose()
    } catch {
      // The problem is shown at its field.
    }
  }
  return (
    <FormDialog
      size="sm"
      title={t('settings.people.createOwner')}
      description={t('settings.people.createOwnerText')}
      submit={t('signIn.create')}
      isRunning={create.isRunning}
      onClose={props.onClose}
      onSubmit={() => void send()}
    >
      <TextField
        label={t('signIn.name')}
        autocomplete="username"
        value={name()}
        onValue={setName}
        problem={nameProblem() ?? otherProblem()}
      />
      <TextField
        label={t('signIn.password')}
        type="password"
        autocomplete="new-password"
        hint={t('signIn.passwordHint', { count: MIN_PASSWORD_CHARS })}
        value={password()}
        onValue={setPassword}
        problem={passwordProblem()}
      />
    </FormDialog>
  )
}
