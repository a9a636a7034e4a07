import Search from 'lucide-solid/icons/search'
import Wrench from 'lucide-solid/icons/wrench'
import { createMemo, For, type JSX, Show } from 'solid-js'
import type { Connector } from '../../../src-runner/contract/connectors.ts'
import { localText, t } from '../../lib/language.ts'
import { matchesWords } from '../../lib/text.ts'
import { IconTile } from '../../ui/IconTile.tsx'
import { TextField } from '../../ui/TextField.tsx'
import { isGeneric, serviceName } from './connection.ts'
import { ConnectorLogo } from './ConnectorLogo.tsx'

const CATEGORIES = ['code', 'mail', 'files', 'chat', 'notes', 'tasks', 'sales', 'music', 'other'] as const
export type Category = (typeof CATEGORIES)[number]

/** Every service that can be connected, with a search and categories. */
export function Catalogue(props: {
  connectors: readonly Connector[]
  query: string
  onQuery: (query: string) => void
  category: Category | null
  onCategory: (category: Category | null) => void
  /** The slugs of services with an account. */
  connected: ReadonlySet<string>
  onConnect: (slug: string) => void
  onAddServer: () => void
}): JSX.Element {
  const present = createMemo(() => CATEGORIES.filter((category) => props.connectors.some((one) => one.category === category)))
  const matching = createMemo(() =>
    props.connectors.filter(
      (one) =>
        (props.category === null || one.category === props.category) &&
        matchesWords(
          `${one.name} ${serviceName(one)} ${localText(one.description)} ${t(`connections.categories.${one.category}`)}`,
          props.query,
        ),
    ),
  )
  /** Any service can be connected in one of the general ways. */
  const found = () => (matching().length > 0 ? matching() : props.connectors.filter(isGeneric))
  const showsServer = () => matching().length === 0 || hasServer()
  const hasServer = () => props.category === null && matchesWords(`MCP ${t('connections.mcp.cardAbout')}`, props.query)
  return (
    <section aria-label={t('connections.catalogue')}>
      <div class="mb-3 flex flex-wrap items-end gap-x-4 gap-y-2">
        <h2 class="flex-1 text-sm font-semibold text-ink">{t('connections.catalogue')}</h2>
        <div class="w-64 max-sm:w-full">
          <TextField
            type="search"
            icon={Search}
            label={t('connections.search')}
            hideLabel
            placeholder={t('connections.search')}
            value={props.query}
            onValue={props.onQuery}
          />
        </div>
      </div>
      <div role="group" aria-label={t('connections.category')} class="mb-3 flex flex-wrap gap-1">
        <Chip pressed={props.category === null} onPress={() => props.onCategory(null)}>
          {t('connections.categories.all')}
        </Chip>
        <For each={present()}>
          {(category) => (
            <Chip pressed={props.category === category} onPress={() => props.onCategory(category)}>
              {t(`connections.categories.${category}`)}
            </Chip>
          )}
        </For>
      </div>
      <Show when={matching().length === 0 && !hasServer()}>
        <p class="pb-3 text-sm text-ink-3">{t('connections.nothingFound')}</p>
      </Show>
      <ul class="grid grid-cols-[repeat(auto-fill,minmax(16rem,1fr))] gap-2">
        <For each={found()}>
          {(connector) => (
            <Card
              logo={<ConnectorLogo connector={connector} />}
              name={serviceName(connector)}
              about={localText(connector.description)}
              isConnected={props.connected.has(connector.slug)}
              onPress={() => props.onConnect(connector.slug)}
            />
          )}
        </For>
        <Show when={showsServer()}>
          <Card
            logo={<IconTile icon={Wrench} />}
            name={t('connections.mcp.card')}
            about={t('connections.mcp.cardAbout')}
            isConnected={false}
            onPress={() => props.onAddServer()}
          />
        </Show>
      </ul>
    </section>
  )
}

function Chip(props: { pressed: boolean; onPress: () => void; children: JSX.Element }): JSX.Element {
  return (
    <button
      type="button"
      aria-pressed={props.pressed}
      class={`h-7 rounded-full border px-3 text-xs transition-colors duration-100 ${
        props.pressed ? 'border-accent bg-accent-soft font-medium text-accent-ink' : 'border-line text-ink-2 hover:bg-hover hover:text-ink'
      }`}
      onClick={() => props.onPress()}
    >
      {props.children}
    </button>
  )
}

function Card(props: { logo: JSX.Element; name: string; about: string; isConnected: boolean; onPress: () => void }): JSX.Element {
  return (
    <li>
      <button
        type="button"
        class="flex h-full w-full items-start gap-3 rounded-lg border border-line bg-surface px-3 py-3 text-left transition-colors duration-100 hover:border-accent hover:bg-hover"
        onClick={() => props.onPress()}
      >
        {props.logo}
        <span class="min-w-0 flex-1">
          <span class="flex items-baseline gap-2">
            <span class="font-medium text-ink">{props.name}</span>
            <Show when={props.isConnected}>
              <span class="text-2xs font-medium text-ok">{t('connections.status.connected')}</span>
            </Show>
          </span>
          <span class="block text-xs text-ink-3 text-pretty">{props.about}</span>
        </span>
      </button>
    </li>
  )
}
