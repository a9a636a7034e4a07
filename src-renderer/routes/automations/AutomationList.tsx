import { A, useSearchParams } from '@solidjs/router'
import Plus from 'lucide-solid/icons/plus'
import Search from 'lucide-solid/icons/search'
import { type Accessor, createEffect, createMemo, createSignal, type JSX, Match, Show, Switch } from 'solid-js'
import type { Pages } from '../../api/observe.ts'
import { NothingYet } from '../../api/NothingYet.tsx'
import { matchesWords } from '../../lib/text.ts'
import { t } from '../../lib/language.ts'
import { ArrowList } from '../../ui/ArrowList.tsx'
import { Button } from '../../ui/Button.tsx'
import { ButtonLink } from '../../ui/ButtonLink.tsx'
import { EmptyState } from '../../ui/EmptyState.tsx'
import type { Icon } from '../../ui/icon.ts'
import { KeyedFor } from '../../ui/KeyedFor.tsx'
import { TextField } from '../../ui/TextField.tsx'

/** How many rows are shown at first and with each press of More. */
const ROWS = 25
/** From this many on, there is a search. */
const MANY = 12

/** A list of webhooks or schedules with a search, which is kept in the URL. */
export function AutomationList<T extends { id: string }>(props: {
  pages: Pages<T>
  kind: 'webhook' | 'schedule'
  icon: Icon
  newHref: string
  exampleHref: string
  /** The text that the search looks in. */
  textOf: (one: T) => string
  /** The titles of the columns after the name. */
  columns: JSX.Element
  row: (one: Accessor<T>) => JSX.Element
  below?: JSX.Element
}): JSX.Element {
  const part = createFoundPart(props.pages, props.textOf)
  return (
    <Switch>
      <Match when={props.pages.items.length === 0}>
        <NothingYet answer={props.pages} rows={4}>
          <EmptyState
            icon={props.icon}
            title={t(`automations.${props.kind}.emptyTitle`)}
            action={
              <>
                <ButtonLink variant="primary" icon={Plus} href={props.newHref}>
                  {t(`automations.${props.kind}.new`)}
                </ButtonLink>
                <ButtonLink href={props.exampleHref}>{t(`automations.${props.kind}.example`)}</ButtonLink>
              </>
            }
          >
            {t(`automations.${props.kind}.emptyText`)}
          </EmptyState>
        </NothingYet>
      </Match>
      <Match when={true}>
        <div class="flex flex-col gap-4">
          <FindField part={part} label={t(`automations.${props.kind}.find`)} />
          <div class="overflow-hidden rounded-xl border border-line bg-surface">
            <div aria-hidden="true" class="flex gap-4 border-b border-line px-4 py-1.5 text-2xs text-ink-3 max-md:hidden">
              <span class="flex-1 pl-7">{t(`automations.${props.kind}.name`)}</span>
              {props.columns}
            </div>
            <ArrowList label={t(`automations.${props.kind}.list`)}>
              <KeyedFor each={part.shown()} keyOf={(one) => one.id}>
                {props.row}
              </KeyedFor>
            </ArrowList>
            <NothingFound part={part} />
          </div>
          <MoreOfPart part={part} />
          {props.below}
        </div>
      </Match>
    </Switch>
  )
}

/** A row: its icon, its name, and the other columns as children. */
export function AutomationRow(props: {
  href: string
  icon: JSX.Element
  name: string
  isPaused: boolean
  pill: JSX.Element
  /** Under the name. */
  detail: JSX.Element
  children: JSX.Element
}): JSX.Element {
  return (
    <li class="border-b border-line last:border-b-0">
      <A data-row="" href={props.href} class="flex items-center gap-4 px-4 py-2.5 -outline-offset-2 hover:bg-hover">
        <span class="flex min-w-0 flex-1 items-center gap-3">
          {props.icon}
          <span class="min-w-0 flex-1">
            <span class="flex min-w-0 flex-wrap items-center gap-x-2 gap-y-0.5">
              <span title={props.name} class={`max-w-full truncate text-sm font-medium ${props.isPaused ? 'text-ink-2' : 'text-ink'}`}>
                {props.name}
              </span>
              {props.pill}
            </span>
            {props.detail}
          </span>
        </span>
        {props.children}
      </A>
    </li>
  )
}

type FoundPart<T> = {
  shown(): readonly T[]
  search(): string
  setSearch(search: string): void
  canSearch(): boolean
  findsNothing(): boolean
  hasMore(): boolean
  isLoadingMore(): boolean
  more(): void
}

function createFoundPart<T>(pages: Pages<T>, textOf: (one: T) => string): FoundPart<T> {
  const [params, setParams] = useSearchParams<{ q?: string }>()
  const [limit, setLimit] = createSignal(ROWS)
  const query = () => (params.q ?? '').trim()
  const found = createMemo(() => {
    const name = query()
    return name === '' ? pages.items : pages.items.filter((one) => matchesWords(textOf(one), name))
  })
  const shown = () => found().slice(0, limit())
  // The search needs all pages.
  createEffect(() => query() !== '' && pages.hasMore && !pages.isLoadingMore && pages.error === null && pages.more())
  return {
    shown,
    search: () => params.q ?? '',
    setSearch: (q) => setParams({ q: q === '' ? undefined : q }, { replace: true }),
    canSearch: () => pages.items.length > MANY || params.q !== undefined,
    findsNothing: () => found().length === 0 && !pages.hasMore,
    hasMore: () => shown().length < found().length || pages.hasMore,
    isLoadingMore: () => pages.isLoadingMore,
    more() {
      setLimit(shown().length + ROWS)
      if (pages.hasMore && found().length < limit()) pages.more()
    },
  }
}

function FindField<T>(props: { part: FoundPart<T>; label: string }): JSX.Element {
  return (
    <Show when={props.part.canSearch()}>
      <TextField
        class="max-w-80"
        type="search"
        label={props.label}
        hideLabel
        placeholder={props.label}
        icon={Search}
        value={props.part.search()}
        onValue={(q) => props.part.setSearch(q)}
      />
    </Show>
  )
}

/** Says that there are no rows, also to screen readers. */
function NothingFound<T>(props: { part: FoundPart<T> }): JSX.Element {
  return (
    <p role="status" class={props.part.shown().length === 0 ? 'px-4 py-3 text-ink-3' : 'sr-only'}>
      {props.part.findsNothing() ? t('common.noMatchFor', { query: props.part.search() }) : ''}
    </p>
  )
}

function MoreOfPart<T>(props: { part: FoundPart<T> }): JSX.Element {
  return (
    <Show when={props.part.hasMore()}>
      <Button size="sm" variant="ghost" class="self-start" busy={props.part.isLoadingMore()} onClick={() => props.part.more()}>
        {t('common.more')}
      </Button>
    </Show>
  )
}
