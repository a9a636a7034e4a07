import Server from 'lucide-solid/icons/server'
import { For, Show } from 'solid-js'
import type { FoundServer, Model } from '../../../src-runner/contract/providers.ts'
import { useApi } from '../../api/ApiProvider.tsx'
import { useAction } from '../../api/mutations.ts'
import { toastError } from '../../api/toast-error.ts'
import { t } from '../../lib/language.ts'
import { Button } from '../../ui/Button.tsx'
import { Panel } from '../../ui/Panel.tsx'

/** Model servers that run on this machine and are not connected yet. */
export function FoundServers(props: { servers: readonly FoundServer[]; onAdded: (models: readonly Model[]) => void }) {
  const create = useAction('createProvider')
  const { client } = useApi()
  const add = async ({ kind, name, baseUrl }: FoundServer) => {
    try {
      const { provider } = await create.run({ body: { kind, name, baseUrl } })
      const { models } = await client.call('listModels')
      props.onAdded(models.filter((model) => model.providerId === provider.id))
    } catch (thrown) {
      toastError(thrown)
    }
  }
  return (
    <Show when={props.servers.length > 0}>
      <Panel title={t('models.found.title')} description={t('models.found.why')} flush>
        <ul class="pb-1">
          <For each={props.servers}>
            {(server) => (
              <li class="flex items-center gap-3 px-4 py-2">
                <span class="flex size-8 shrink-0 items-center justify-center rounded-lg bg-accent-soft text-accent-ink">
                  <Server size={16} aria-hidden="true" />
                </span>
                <div class="min-w-0 flex-1">
                  <p class="truncate font-medium">{server.name}</p>
                  <p class="truncate text-xs text-ink-3">
                    {t('models.found.models', { count: server.models.length })} · {server.baseUrl}
                  </p>
                </div>
                <Button size="sm" busy={create.isRunning} onClick={() => void add(server)}>
                  {t('models.found.use')}
                </Button>
              </li>
            )}
          </For>
        </ul>
      </Panel>
    </Show>
  )
}
