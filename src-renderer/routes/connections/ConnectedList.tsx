import Globe from 'lucide-solid/icons/globe'
import SquareTerminal from 'lucide-solid/icons/square-terminal'
import { For, type JSX, Match, Show, Switch } from 'solid-js'
import type { Connector } from '../../../src-runner/contract/connectors.ts'
import { t } from '../../lib/language.ts'
import { visibleText } from '../../lib/visible-text.ts'
import { ArrowList } from '../../ui/ArrowList.tsx'
import { IconTile } from '../../ui/IconTile.tsx'
import { LinkRow, LinkRowNames } from '../../ui/LinkRow.tsx'
import { Pill } from '../../ui/Pill.tsx'
import { Time } from '../../ui/Time.tsx'
import { type Connection, serverState, serviceName, toReview } from './connection.ts'
import { ConnectorLogo } from './ConnectorLogo.tsx'

export const ACCOUNT_TONES = { connected: 'ok', needs_sign_in: 'warn' } as const
export const SERVER_TONES = {
  new: 'accent',
  off: 'plain',
  stopped: 'plain',
  starting: 'accent',
  running: 'ok',
  failing: 'bad',
  needs_sign_in: 'warn',
} as const

/** Accounts and MCP servers in one list. Each row leads to its page. */
export function ConnectedList(props: { connections: readonly Connection[]; connectors: readonly Connector[] }): JSX.Element {
  return (
    <ArrowList label={t('connections.connected')} class="overflow-hidden rounded-xl border border-line bg-surface">
      <For each={props.connections}>
        {(connection) => (
          <LinkRow
            href={connection.path}
            icon={<Logo connection={connection} connectors={props.connectors} />}
            lead={
              <>
                <div class="truncate font-medium text-ink">{visibleText(connection.name)}</div>
                <div class="truncate text-xs text-ink-3">{subtitleOf(connection, props.connectors)}</div>
              </>
            }
            state={<State connection={connection} />}
          >
            <LinkRowNames names={connection.agents.map(({ agentName }) => visibleText(agentName))} none={t('connections.noAgent')} />
            <div class="w-24 text-xs text-ink-3 max-lg:w-20 max-md:w-auto">
              <Show when={connection.lastUsedAt} fallback={t('connections.neverUsed')}>
                {(at) => <Time at={at()} />}
              </Show>
            </div>
          </LinkRow>
        )}
      </For>
    </ArrowList>
  )
}

function Logo(props: { connection: Connection; connectors: readonly Connector[] }): JSX.Element {
  const slug = () => (props.connection.kind === 'account' ? props.connection.credential.connector : null)
  return (
    <Show
      when={slug()}
      fallback={
        <IconTile icon={props.connection.kind === 'mcp' && props.connection.server.transport.kind === 'stdio' ? SquareTerminal : Globe} />
      }
    >
      {(wanted) => <ConnectorLogo connector={props.connectors.find((one) => one.slug === wanted())} />}
    </Show>
  )
}

/** The service and the account, or what kind of server it is. */
function subtitleOf(connection: Connection, connectors: readonly Connector[]): string {
  if (connection.kind === 'mcp') {
    const { transport, tools } = connection.server
    const kind = transport.kind === 'stdio' ? t('connections.mcp.program') : t('connections.mcp.remote')
    return `${kind} · ${t('connections.mcp.toolCount', { count: tools.filter(({ status }) => status !== 'gone').length })}`
  }
  const { connector, accountName, name } = connection.credential
  const known = connectors.find(({ slug }) => slug === connector)
  const service = known === undefined ? connector : serviceName(known)
  return [service, accountName]
    .filter((part) => part !== null && part !== name)
    .map((part) => visibleText(part!))
    .join(' · ')
}

function State(props: { connection: Connection }): JSX.Element {
  return (
    <Switch>
      <Match when={props.connection.kind === 'account' && props.connection.credential}>
        {(credential) => <Pill tone={ACCOUNT_TONES[credential().status]}>{t(`connections.status.${credential().status}`)}</Pill>}
      </Match>
      <Match when={props.connection.kind === 'mcp' && props.connection.server}>
        {(server) => (
          <Show
            when={toReview(server()).length > 0 && server().status !== 'failing'}
            fallback={<Pill tone={SERVER_TONES[serverState(server())]}>{t(`connections.mcp.status.${serverState(server())}`)}</Pill>}
          >
            <Pill tone="warn">{t('connections.mcp.toReview', { count: toReview(server()).length })}</Pill>
          </Show>
        )}
      </Match>
    </Switch>
  )
}
