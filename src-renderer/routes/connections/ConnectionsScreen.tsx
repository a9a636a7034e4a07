import { useSearchParams } from '@solidjs/router'
import Cable from 'lucide-solid/icons/cable'
import Plus from 'lucide-solid/icons/plus'
import { createMemo, type JSX, Show } from 'solid-js'
import { AnswerState } from '../../api/AnswerState.tsx'
import { useMay } from '../../api/may.ts'
import { NothingYet } from '../../api/NothingYet.tsx'
import { useAgents, useConnectors, useCredentials, useMcpServers } from '../../api/queries.ts'
import { t } from '../../lib/language.ts'
import { Button } from '../../ui/Button.tsx'
import { EmptyState } from '../../ui/EmptyState.tsx'
import { PageHeader } from '../../ui/PageHeader.tsx'
import { Screen } from '../../ui/Screen.tsx'
import { Catalogue, type Category } from './Catalogue.tsx'
import { ConnectDialog } from './ConnectDialog.tsx'
import { ConnectedList } from './ConnectedList.tsx'
import { connectionsOf } from './connection.ts'
import { AddServerDialog } from './mcp/AddServerDialog.tsx'

type Search = { q?: string; category?: string; connect?: string; add?: string; agent?: string }

/** The accounts and MCP servers that agents may use, and the catalogue of services. */
export function ConnectionsScreen(): JSX.Element {
  // In the URL, so that other screens can lead to a service, and a reload keeps the place.
  const [search, setSearch] = useSearchParams<Search>()
  const credentials = useCredentials()
  const servers = useMcpServers()
  const connectors = useConnectors()
  const agents = useAgents()
  const may = useMay()
  const all = createMemo(() => connectionsOf(credentials.data?.credentials ?? [], servers.data?.servers ?? []))
  const isLoaded = () => credentials.data !== undefined && servers.data !== undefined
  const failed = () => (credentials.error ? credentials : servers)
  const connected = createMemo(() => new Set(credentials.data?.credentials.map(({ connector }) => connector)))
  const close = () => setSearch({ connect: undefined, add: undefined, agent: undefined }, { replace: true })
  const add = () => setSearch({ add: 'mcp' })
  const chosen = () => connectors.data?.connectors.find(({ slug }) => slug === search.connect)
  return (
    <Screen width="medium">
      <PageHeader
        title={t('connections.title')}
        description={t('connections.about')}
        actions={
          <Show when={may('createMcpServer')}>
            <Button icon={Plus} onClick={add}>
              {t('connections.mcp.add')}
            </Button>
          </Show>
        }
      />
      <div class="flex flex-col gap-8">
        <Show
          when={isLoaded() && all().length > 0}
          fallback={
            <NothingYet answer={isLoaded() ? credentials : failed()} rows={3}>
              <Show when={isLoaded()}>
                <EmptyState compact icon={Cable} title={t('connections.empty')}>
                  {t(may('createCredential') ? 'connections.emptyWhy' : 'connections.emptyMember')}
                </EmptyState>
              </Show>
            </NothingYet>
          }
        >
          <section aria-label={t('connections.connected')}>
            <h2 class="mb-3 text-sm font-semibold text-ink">{t('connections.connected')}</h2>
            <ConnectedList connections={all()} connectors={connectors.data?.connectors ?? []} />
          </section>
        </Show>
        <Show when={may('createCredential')}>
          <Show when={connectors.data} fallback={<AnswerState answer={connectors} />}>
            {(data) => (
              <Catalogue
                connectors={data().connectors}
                query={search.q ?? ''}
                onQuery={(q) => setSearch({ q: q === '' ? undefined : q }, { replace: true })}
                category={(search.category as Category | undefined) ?? null}
                onCategory={(category) => setSearch({ category: category ?? undefined }, { replace: true })}
                connected={connected()}
                onConnect={(slug) => setSearch({ connect: slug })}
                onAddServer={add}
              />
            )}
          </Show>
        </Show>
      </div>
      <Show when={may('createCredential') && agents.data !== undefined && chosen()}>
        {(connector) => <ConnectDialog connector={connector()} agents={agents.data?.agents ?? []} agentId={search.agent} onClose={close} />}
      </Show>
      <Show when={may('createMcpServer') && search.add === 'mcp' && agents.data !== undefined}>
        <AddServerDialog agents={agents.data?.agents ?? []} agentId={search.agent} onClose={close} />
      </Show>
    </Screen>
  )
}
