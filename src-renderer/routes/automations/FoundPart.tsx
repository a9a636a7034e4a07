import { useSearchParams } from '@solidjs/router'
import Search from 'lucide-solid/icons/search'
import { createEffect, createMemo, createSignal, type JSX, Show } from 'solid-js'
import type { Pages } from '../../api/observe.ts'
import { matchesWords } from '../../kit/text.ts'
import { words } from '../../kit/words/words.ts'
import { Button } from '../../ui/Button.tsx'
import { TextField } from '../../ui/TextField.tsx'

/** Rows at first, and as many again whenever somebody wants to see more. */
const ROWS = 25
/** More than somebody takes in at one glance: from so many on they can be searched. */
const MANY = 12

/** Of a list what the search in the address finds, a part of it at a time. */
export type FoundPart<T> = {
  shown(): readonly T[]
  search(): string
  setSearch(search: string): void
  canSearch(): boolean
  findsNothing(): boolean
  hasMore(): boolean
  isLoadingMore(): boolean
  more(): void
}

export function createFoundPart<T>(pages: Pages<T>, textOf: (one: T) => string): FoundPart<T> {
  const [params, setParams] = useSearchParams<{ q?: string }>()
  const [wanted, setWanted] = createSignal(ROWS)
  const wish = () => (params.q ?? '').trim()
  const found = createMemo(() => {
    const name = wish()
    return name === '' ? pages.items : pages.items.filter((one) => matchesWords(textOf(one), name))
  })
  const shown = () => found().slice(0, wanted())
  // What was not read yet cannot be found.
  createEffect(() => wish() !== '' && pages.hasMore && !pages.isLoadingMore && pages.error === null && pages.more())
  return {
    shown,
    search: () => params.q ?? '',
    setSearch: (q) => setParams({ q: q === '' ? undefined : q }, { replace: true }),
    canSearch: () => pages.items.length > MANY || params.q !== undefined,
    findsNothing: () => found().length === 0 && !pages.hasMore,
    hasMore: () => shown().length < found().length || pages.hasMore,
    isLoadingMore: () => pages.isLoadingMore,
    more() {
      setWanted(shown().length + ROWS)
      if (pages.hasMore && found().length < wanted()) pages.more()
    },
  }
}

export function FindField<T>(props: { part: FoundPart<T>; label: string }): JSX.Element {
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

/** Said where the rows would be, and heard by those who do not see that there are none. */
export function NothingFound<T>(props: { part: FoundPart<T> }): JSX.Element {
  return (
    <p role="status" class={props.part.shown().length === 0 ? 'px-4 py-3 text-ink-3' : 'sr-only'}>
      {props.part.findsNothing() ? words().common.noMatchFor(props.part.search()) : ''}
    </p>
  )
}

export function MoreOfPart<T>(props: { part: FoundPart<T> }): JSX.Element {
  return (
    <Show when={props.part.hasMore()}>
      <Button size="sm" variant="ghost" class="self-start" busy={props.part.isLoadingMore()} onClick={() => props.part.more()}>
        {words().common.more}
      </Button>
    </Show>
  )
}
