import { useNavigate } from '@solidjs/router'
import type { JSX } from 'solid-js'
import { sentenceOf } from '../../api/problem.ts'
import { t } from '../../lib/language.ts'
import { ConfirmDialog } from '../../ui/ConfirmDialog.tsx'
import { toast } from '../../ui/Toasts.tsx'

/** Asks before an automation is deleted, then returns to its list and confirms it there. */
export function DeleteDialog(props: {
  from: 'webhooks' | 'schedules'
  name: string
  open: boolean
  onClose: () => void
  remove: () => Promise<unknown>
}): JSX.Element {
  const navigate = useNavigate()
  const kind = () => (props.from === 'schedules' ? 'schedule' : 'webhook')
  const remove = async () => {
    const { name } = props
    await props.remove()
    toast({ text: t(`automations.${kind()}.deleted`, { name }) })
    navigate(`/automations/${props.from}`, { replace: true })
  }
  return (
    <ConfirmDialog
      open={props.open}
      onClose={() => props.onClose()}
      title={t(`automations.${kind()}.deleteTitle`, { name: props.name })}
      confirm={t(`automations.${kind()}.deleteNow`)}
      tone="bad"
      onConfirm={remove}
      describeError={sentenceOf}
    >
      {t(`automations.${kind()}.deleteText`)}
    </ConfirmDialog>
  )
}
