import { useSearchParams } from '@solidjs/router'
import Plus from 'lucide-solid/icons/plus'
import { createSignal, Show } from 'solid-js'
import { DEMO_PROVIDER_ID } from '../../../src-runner/contract/agents.ts'
import type { Model } from '../../../src-runner/contract/providers.ts'
import { useMay } from '../../api/may.ts'
import { useUpdateSettings } from '../../api/mutations.ts'
import { problemOf } from '../../api/problem.ts'
import { useAgents, useFoundServers, useModels, useProviders, useSettings } from '../../api/queries.ts'
import { toastError } from '../../api/toast-error.ts'
import { t } from '../../lib/language.ts'
import { ModelPicker } from '../../features/models/ModelPicker.tsx'
import { preferredModel } from '../../features/models/preferred-model.ts'
import { ADDABLE_KINDS, type AddableKind } from '../../features/models/provider-kinds.ts'
import { Button } from '../../ui/Button.tsx'
import { ErrorState } from '../../ui/ErrorState.tsx'
import { PageHeader } from '../../ui/PageHeader.tsx'
import { Panel } from '../../ui/Panel.tsx'
import { Screen } from '../../ui/Screen.tsx'
import { Skeleton } from '../../ui/Skeleton.tsx'
import { FoundServers } from './FoundServers.tsx'
import { LeaveDemoDialog } from './LeaveDemoDialog.tsx'
import { ModelTable } from './ModelTable.tsx'
import { ProviderDialog } from './ProviderDialog.tsx'
import { ProviderList } from './ProviderList.tsx'

type Search = { add?: string; edit?: string; q?: string }

/** Providers, their keys, models and prices. Each dialog has its own URL. */
export function ModelsScreen() {
  const [search, setSearch] = useSearchParams<Search>()
  const providers = useProviders()
  const found = useFoundServers()
  const models = useModels()
  const settings = useSettings()
  const change = useUpdateSettings()
  const agents = useAgents()
  const may = useMay()
  const defaultModel = () => settings.data?.settings.defaultModel ?? null
  const setDefault = (model: NonNullable<ReturnType<typeof defaultModel>>) =>
    void change.run({ body: { defaultModel: model } }).catch(toastError)
  const addKind = (): AddableKind => ADDABLE_KINDS.find((kind) => kind === search.add) ?? 'anthropic'
  const edited = () => providers.data?.providers.find((provider) => provider.id === search.edit)
  /** The model that is offered instead of the demo. */
  const [offered, setOffered] = createSignal<Model | null>(null)
  const agentsOnDemo = () => (agents.data?.agents ?? []).filter((agent) => agent.model?.providerId === DEMO_PROVIDER_ID)
  const isFirstReal = () => (providers.data?.providers ?? []).filter(({ origin }) => origin !== 'built_in').length <= 1
  const added = (listed: readonly Model[]) => {
    const first = preferredModel(listed)
    if (first === null) return
    const before = defaultModel()
    // The first model that the person adds becomes the default.
    if (before === null) setDefault({ providerId: first.providerId, model: first.model })
    if (before?.providerId === DEMO_PROVIDER_ID || (isFirstReal() && agentsOnDemo().length > 0)) setOffered(first)
  }
  const closeDialog = () => setSearch({ add: undefined, edit: undefined })

  return (
    <Screen>
      <PageHeader
        title={t('models.title')}
        description={t('models.about')}
        actions={
          <Show when={may('createProvider')}>
            <Button variant="primary" icon={Plus} onClick={() => setSearch({ add: '1' })}>
              {t('models.add')}
            </Button>
          </Show>
        }
      />
      <Show
        when={providers.data}
        fallback={
          <Show when={providers.error} fallback={<Skeleton rows={5} />}>
            <ErrorState problem={problemOf(providers.error)} onRetry={providers.retry} />
          </Show>
        }
      >
        {(listed) => (
          <div class="flex flex-col gap-6">
            <Panel title={t('models.default.title')} description={t('models.default.why')}>
              <ModelPicker
                label={t('models.default.title')}
                hideLabel
                class="max-w-md"
                value={defaultModel()}
                onValue={setDefault}
                disabled={!may('updateSettings')}
                placeholder={t('models.default.none')}
                problem={settings.data !== undefined && defaultModel() === null ? t('models.default.noneWarning') : null}
              />
            </Panel>
            <Show when={may('createProvider')}>
              <FoundServers servers={found.data?.servers ?? []} onAdded={added} />
            </Show>
            <ProviderList providers={listed().providers} models={models.data} onEdit={(provider) => setSearch({ edit: provider.id })} />
            <ModelTable
              models={models}
              defaultModel={defaultModel()}
              onDefault={setDefault}
              query={search.q ?? ''}
              onQuery={(q) => setSearch({ q: q || undefined }, { replace: true })}
            />
          </div>
        )}
      </Show>
      <Show when={(search.add !== undefined && may('createProvider')) || (edited() && may('updateProvider'))}>
        <ProviderDialog kind={addKind()} existing={edited()} onAdded={added} onClose={closeDialog} />
      </Show>
      <LeaveDemoDialog model={offered()} agents={agentsOnDemo()} onClose={() => setOffered(null)} />
    </Screen>
  )
}
