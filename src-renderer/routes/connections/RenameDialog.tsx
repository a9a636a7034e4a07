import { createSignal, type JSX } from 'solid-js'
import { t } from '../../lib/language.ts'
import { FormDialog } from '../../ui/FormDialog.tsx'
import { TextField } from '../../ui/TextField.tsx'
import { FormProblem } from '../../features/forms/FormProblem.tsx'

export function RenameDialog(props: {
  name: string
  onSave: (name: string) => Promise<unknown>
  isRunning: boolean
  onClose: () => void
}): JSX.Element {
  const [name, setName] = createSignal(props.name)
  const [error, setError] = createSignal<unknown>(null)
  const save = async () => {
    if (name().trim() === '') return
    try {
      await props.onSave(name().trim())
      props.onClose()
    } catch (thrown) {
      setError(thrown)
    }
  }
  return (
    <FormDialog
      size="sm"
      title={t('connections.rename')}
      submit={t('common.save')}
      onSubmit={() => void save()}
      isRunning={props.isRunning}
      onClose={props.onClose}
    >
      <TextField label={t('connections.connect.name')} value={name()} onValue={setName} maxLength={120} />
      <FormProblem error={error()} />
    </FormDialog>
  )
}
