import Pencil from 'lucide-solid/icons/pencil'
import RefreshCw from 'lucide-solid/icons/refresh-cw'
import Trash2 from 'lucide-solid/icons/trash'
import { createSignal, For, Match, Show, Switch } from 'solid-js'
import type { ModelList, Provider } from '../../../src-runner/contract/providers.ts'
import { useMay } from '../../api/may.ts'
import { useAction } from '../../api/mutations.ts'
import { sentenceOf } from '../../api/problem.ts'
import { messageText } from '../../lib/message-text.ts'
import { t } from '../../lib/language.ts'
import { Avatar } from '../../ui/Avatar.tsx'
import { Button } from '../../ui/Button.tsx'
import { ConfirmDialog } from '../../ui/ConfirmDialog.tsx'
import { Menu } from '../../ui/Menu.tsx'
import { Panel } from '../../ui/Panel.tsx'
import { Pill } from '../../ui/Pill.tsx'

export function ProviderList(props: {
  providers: readonly Provider[]
  models: ModelList | undefined
  onEdit: (provider: Provider) => void
}) {
  return (
    <Panel title={t('models.providers.title')} flush>
      <ul class="pb-1">
        <For each={props.providers}>
          {(provider) => <ProviderLine provider={provider} models={props.models} onEdit={() => props.onEdit(provider)} />}
        </For>
      </ul>
    </Panel>
  )
}

function ProviderLine(props: { provider: Provider; models: ModelList | undefined; onEdit: () => void }) {
  const may = useMay()
  const check = useAction('checkProvider')
  const remove = useAction('deleteProvider')
  const [checked, setChecked] = createSignal<{ ok: boolean; models: number; message: string } | null>(null)
  const [isRemoving, setRemoving] = createSignal(false)

  /** The result of the last check, or before one, what the list of models says. */
  const state = (): { ok: boolean; models: number; message: string } | null => {
    const result = checked()
    if (result !== null || props.models === undefined) return result
    const problem = props.models.problems.find((one) => one.providerId === props.provider.id)
    if (problem !== undefined) return { ok: false, models: 0, message: messageText(problem.message) }
    return { ok: true, models: props.models.models.filter((model) => model.providerId === props.provider.id).length, message: '' }
  }
  const checkNow = async () => {
    setChecked(null)
    try {
      const { ok, models, message } = await check.run({ params: { providerId: props.provider.id } })
      setChecked({ ok, models, message: messageText(message) })
    } catch (thrown) {
      setChecked({ ok: false, models: 0, message: sentenceOf(thrown) })
    }
  }
  const edit = () => {
    // What was found before says nothing about another key or address.
    setChecked(null)
    props.onEdit()
  }
  const about = () => {
    const { provider } = props
    if (provider.kind === 'demo') return t('models.providers.demo')
    const key = provider.hasKey
      ? t('models.providers.keyStored')
      : provider.origin === 'found'
        ? t('models.providers.onThisMachine')
        : t('models.providers.noKey')
    return [t(`models.form.kinds.${provider.kind}`), provider.baseUrl, key].filter(Boolean).join(' · ')
  }
  return (
    <li class="flex items-center gap-3 px-4 py-2">
      <Avatar name={props.provider.name} />
      <div class="min-w-0 flex-1">
        <p class="flex items-center gap-2 max-sm:flex-wrap max-sm:gap-y-0.5">
          <span class="truncate font-medium">{props.provider.name}</span>
          <Switch fallback={<Pill>{t('models.providers.checking')}</Pill>}>
            <Match when={!check.isRunning && state()?.ok === true}>
              <Pill tone="ok">{t('models.providers.works', { count: state()!.models })}</Pill>
            </Match>
            <Match when={!check.isRunning && state()?.ok === false}>
              <Pill tone="bad">{t('models.providers.failed')}</Pill>
            </Match>
          </Switch>
        </p>
        <p class="text-xs wrap-anywhere text-ink-3">{about()}</p>
        <Show when={state()?.ok === false && state()?.message}>
          {(message) => (
            <p role="alert" class="text-xs text-bad wrap-break-word">
              {message()}
            </p>
          )}
        </Show>
      </div>
      <Show when={props.provider.origin !== 'built_in'}>
        <Show when={!check.isRunning && state()?.ok === false && may('updateProvider')}>
          <Button size="sm" class="max-sm:hidden" onClick={edit}>
            {t('models.providers.edit')}
          </Button>
        </Show>
        <Menu
          label={t('models.providers.actions', { name: props.provider.name })}
          items={[
            { label: t('models.providers.check'), icon: RefreshCw, onSelect: () => void checkNow() },
            ...(may('updateProvider') ? [{ label: t('models.providers.edit'), icon: Pencil, onSelect: edit }] : []),
            ...(may('deleteProvider')
              ? ([
                  'separator',
                  { label: t('models.providers.remove'), icon: Trash2, tone: 'bad', onSelect: () => setRemoving(true) },
                ] as const)
              : []),
          ]}
        />
      </Show>
      <ConfirmDialog
        open={isRemoving()}
        onClose={() => setRemoving(false)}
        title={t('models.providers.removeTitle', { name: props.provider.name })}
        confirm={t('common.remove')}
        tone="bad"
        onConfirm={() => remove.run({ params: { providerId: props.provider.id } })}
        describeError={sentenceOf}
      >
        {t('models.providers.removeWhy')}
      </ConfirmDialog>
    </li>
  )
}
