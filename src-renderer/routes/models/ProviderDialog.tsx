import { createSignal, Show } from 'solid-js'
import type { Model, Provider } from '../../../src-runner/contract/providers.ts'
import { useAction } from '../../api/mutations.ts'
import { toastError } from '../../api/toast-error.ts'
import { t } from '../../lib/language.ts'
import {
  type DraftProblems,
  emptyDraft,
  problemsOf,
  type ProviderDraft,
  ProviderFields,
  requestOf,
} from '../../features/models/ProviderFields.tsx'
import { ADDABLE_KINDS, type AddableKind } from '../../features/models/provider-kinds.ts'
import { useConnect } from '../../features/models/use-connect.ts'
import { Button } from '../../ui/Button.tsx'
import { FormDialog } from '../../ui/FormDialog.tsx'
import { Select } from '../../ui/Select.tsx'

/** Adds or changes a provider. Its models are fetched at once, so that a wrong key is noticed here. */
export function ProviderDialog(props: {
  kind: AddableKind
  existing?: Provider
  onAdded: (models: readonly Model[]) => void
  onClose: () => void
}) {
  const existing = props.existing
  const connect = useConnect()
  const update = useAction('updateProvider')
  const [draft, setDraft] = createSignal<ProviderDraft>(
    existing === undefined
      ? emptyDraft(props.kind)
      : { kind: existing.kind as AddableKind, name: existing.name, baseUrl: existing.baseUrl ?? '', apiKey: '' },
  )
  const [problems, setProblems] = createSignal<DraftProblems>({})

  const save = async () => {
    const found = problemsOf(draft(), existing?.hasKey ?? connect.notAccepted?.provider.hasKey ?? false)
    setProblems(found)
    if (Object.keys(found).length > 0) return
    const connected = await connect.connect(requestOf(draft()), existing)
    if (connected === null) return
    props.onClose()
    if (existing === undefined) props.onAdded(connected.models)
  }
  const cancel = () => {
    if (existing === undefined) void connect.giveUp().catch(toastError)
    props.onClose()
  }
  const keep = () => {
    connect.keep()
    props.onClose()
  }
  const removeKey = () => update.run({ params: { providerId: existing!.id }, body: { apiKey: null } }).then(props.onClose, toastError)

  return (
    <FormDialog
      onClose={cancel}
      title={existing === undefined ? t('models.form.addTitle') : t('models.form.editTitle', { name: existing.name })}
      submit={existing === undefined ? t('models.form.connect') : t('models.form.save')}
      onSubmit={() => void save()}
      isRunning={connect.isRunning}
      cancel={connect.notAccepted ? <Button onClick={keep}>{t('models.form.keepAnyway')}</Button> : undefined}
      aside={
        <Show when={existing?.hasKey && existing.kind === 'openai-compatible'}>
          <Button variant="ghost" class="mr-auto" busy={update.isRunning} onClick={() => void removeKey()}>
            {t('models.form.removeKey')}
          </Button>
        </Show>
      }
    >
      <Show when={existing === undefined}>
        <Select
          label={t('models.form.kind')}
          options={ADDABLE_KINDS.map((kind) => ({
            value: kind,
            label: t(`models.form.kinds.${kind}`),
            note: t(`models.form.kindNotes.${kind}`),
          }))}
          value={draft().kind}
          onValue={(kind) => {
            setProblems({})
            void connect.giveUp().catch(toastError)
            setDraft({ ...emptyDraft(kind), apiKey: '' })
          }}
        />
      </Show>
      <ProviderFields draft={draft()} onDraft={setDraft} problems={problems()} connect={connect} existing={existing} />
    </FormDialog>
  )
}
