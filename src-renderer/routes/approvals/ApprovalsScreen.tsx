import { A, useNavigate, useParams, useSearchParams } from '@solidjs/router'
import ArrowRight from 'lucide-solid/icons/arrow-right'
import ChevronLeft from 'lucide-solid/icons/chevron-left'
import Scale from 'lucide-solid/icons/scale'
import ShieldCheck from 'lucide-solid/icons/shield-check'
import { createComputed, createEffect, createMemo, createSignal, type JSX, Match, on, onMount, Show, Switch } from 'solid-js'
import type { Approval } from '../../../src-runner/contract/approvals.ts'
import { useApi } from '../../api/ApiProvider.tsx'
import { ApiError } from '../../api/client.ts'
import type { Loaded, Pages } from '../../api/observe.ts'
import { NothingYet } from '../../api/NothingYet.tsx'
import { problemOf } from '../../api/problem.ts'
import { useApproval, useApprovals, usePendingApprovals } from '../../api/queries.ts'
import { ApprovalCard } from '../../features/approvals/ApprovalCard.tsx'
import { useKeys } from '../../lib/keyboard.ts'
import { t } from '../../lib/language.ts'
import { Button } from '../../ui/Button.tsx'
import { ButtonLink } from '../../ui/ButtonLink.tsx'
import { EmptyState } from '../../ui/EmptyState.tsx'
import { ErrorState } from '../../ui/ErrorState.tsx'
import { KeyedFor } from '../../ui/KeyedFor.tsx'
import { SegmentedControl } from '../../ui/SegmentedControl.tsx'
import { Skeleton } from '../../ui/Skeleton.tsx'
import { ApprovalRow } from './ApprovalRow.tsx'

type Tab = 'waiting' | 'answered'

/**
 * The list of approvals at the left, one of them at the right. An answered card stays until the person moves on, so that
 * pressing a key or button twice never answers an approval that was not read.
 */
export function ApprovalsScreen(): JSX.Element {
  const params = useParams<{ approvalId?: string }>()
  const [search] = useSearchParams<{ show?: string; id?: string }>()
  const navigate = useNavigate()
  const tab = (): Tab => (search.show === 'answered' ? 'answered' : 'waiting')
  const waiting = usePendingApprovals()
  const answered = useApprovals(() => (tab() === 'answered' ? {} : null))

  // The soonest to expire comes first. New ones come last, so that no row moves under the finger.
  const pending = createMemo(() =>
    (waiting.data?.approvals ?? []).filter((approval) => approval.status === 'pending').toSorted((a, b) => a.expiresAt - b.expiresAt),
  )
  const rows = () => (tab() === 'waiting' ? pending() : answered.items.filter((approval) => approval.status !== 'pending'))

  const [heldId, setHeldId] = createSignal<string | null>(null)
  createComputed(on([() => params.approvalId, tab], ([id]) => setHeldId(id ?? null)))
  createComputed(() => {
    const first = rows()[0]
    if (heldId() === null && first !== undefined) setHeldId(first.id)
  })
  const detail = useApproval(heldId)
  const shown = createMemo((): Approval | undefined => {
    if (detail.data?.approval.id === heldId()) return detail.data?.approval
    return rows().find((approval) => approval.id === heldId())
  })

  const hrefOf = (id: string) => `/approvals/${id}${tab() === 'answered' ? '?show=answered' : ''}`
  const nextId = () => {
    const others = pending().filter((approval) => approval.id !== heldId())
    const after = others.find((approval) => approval.expiresAt >= (shown()?.expiresAt ?? 0))
    return (after ?? others[0])?.id ?? null
  }
  const move = (by: 1 | -1) => {
    const at = rows().findIndex((approval) => approval.id === heldId())
    const target = at === -1 ? (rows().find((approval) => approval.id === nextId()) ?? rows()[0]) : rows()[at + by]
    if (target !== undefined) navigate(hrefOf(target.id), { replace: true, scroll: false })
  }
  useKeys({ ArrowDown: () => move(1), ArrowUp: () => move(-1) })
  // A notification of the system opens its approval this way, also while another one is shown.
  createEffect(
    on(
      () => search.id,
      (id) => id !== undefined && navigate(`/approvals/${id}`, { replace: true }),
    ),
  )

  const isGone = () => heldId() !== null && shown() === undefined && detail.error instanceof ApiError && detail.error.status === 404
  const isEmpty = () => rows().length === 0 && heldId() === null
  const { connection } = useApi()
  const isKnown = () => (waiting.data?.pending ?? 0) > 0 || (!waiting.error && connection() === 'open')
  const onPhoneCard = () => params.approvalId !== undefined

  return (
    <div class="flex h-full min-h-0 flex-col">
      <ScreenHeader tab={tab()} pending={isKnown() ? waiting.data?.pending : undefined} onPhoneCard={onPhoneCard()} />
      <Switch>
        <Match when={isEmpty()}>
          <NothingYet answer={tab() === 'waiting' ? waiting : answered} class="mx-auto w-full max-w-3xl p-6">
            <Nothing tab={tab()} />
          </NothingYet>
        </Match>
        <Match when={true}>
          <div class="flex min-h-0 flex-1">
            <nav
              aria-label={t('approvals.list')}
              class={`scroll-quiet w-76 shrink-0 overflow-y-auto border-r border-line px-2 py-2 max-lg:w-64 max-md:w-full max-md:border-r-0 ${onPhoneCard() ? 'max-md:hidden' : ''}`}
            >
              <ul class="flex flex-col gap-0.5">
                <KeyedFor each={rows()} keyOf={(approval) => approval.id}>
                  {(approval) => (
                    <li>
                      <ApprovalRow approval={approval()} href={hrefOf(approval().id)} isCurrent={approval().id === heldId()} />
                    </li>
                  )}
                </KeyedFor>
              </ul>
              <Show when={tab() === 'waiting'} fallback={<MoreAnswered answered={answered} />}>
                <ListEnd shown={pending().length} pending={waiting.data?.pending ?? 0} />
              </Show>
            </nav>
            <div class={`scroll-quiet min-w-0 flex-1 overflow-y-auto ${onPhoneCard() ? '' : 'max-md:hidden'}`}>
              <div class="mx-auto w-full max-w-3xl p-6 max-md:p-3">
                <A
                  href={tab() === 'answered' ? '/approvals?show=answered' : '/approvals'}
                  class="mb-3 inline-flex items-center gap-1 text-xs text-ink-3 hover:text-ink md:hidden"
                >
                  <ChevronLeft size={14} aria-hidden="true" />
                  {t('approvals.back')}
                </A>
                <Front shown={shown()} detail={detail} isGone={isGone()} nextHref={nextId() === null ? null : hrefOf(nextId()!)} />
              </div>
            </div>
          </div>
        </Match>
      </Switch>
    </div>
  )
}

function ScreenHeader(props: { tab: Tab; /** undefined: not known. */ pending: number | undefined; onPhoneCard: boolean }): JSX.Element {
  const navigate = useNavigate()
  return (
    <>
      <Show when={props.onPhoneCard}>
        <h1 class="sr-only md:hidden">{t('approvals.title')}</h1>
      </Show>
      <header
        class={`flex flex-wrap items-center gap-x-4 gap-y-2 border-b border-line px-6 py-3 max-md:px-4 ${props.onPhoneCard ? 'max-md:hidden' : ''}`}
      >
        <div class="min-w-0 flex-1 max-sm:basis-full">
          <h1 class="text-xl font-semibold tracking-tight text-ink">{t('approvals.title')}</h1>
          <p class="text-sm text-ink-2" aria-live="polite">
            {props.pending === undefined ? t('approvals.intro') : t('approvals.waitingCount', { count: props.pending })}
          </p>
        </div>
        <SegmentedControl
          label={t('approvals.list')}
          options={[
            { value: 'waiting', label: t('approvals.waiting') },
            { value: 'answered', label: t('approvals.answered') },
          ]}
          value={props.tab}
          onValue={(next) => navigate(next === 'answered' ? '/approvals?show=answered' : '/approvals')}
        />
        <ButtonLink icon={Scale} href="/rules">
          {t('approvals.rulesLink')}
        </ButtonLink>
      </header>
    </>
  )
}

/** Below the list: that nothing waits, or how many more wait than are shown. */
function ListEnd(props: { shown: number; pending: number }): JSX.Element {
  return (
    <Switch>
      <Match when={props.shown === 0}>
        <p class="px-3 py-2 text-sm text-ink-3">{t('approvals.allDone')}</p>
      </Match>
      <Match when={props.pending > props.shown}>
        <p class="px-3 py-2 text-xs text-ink-3">{t('approvals.more', { count: props.pending - props.shown })}</p>
      </Match>
    </Switch>
  )
}

function MoreAnswered(props: { answered: Pages<Approval> }): JSX.Element {
  return (
    <Show when={props.answered.hasMore}>
      <Button size="sm" variant="ghost" class="mt-1 w-full" busy={props.answered.isLoadingMore} onClick={props.answered.more}>
        {t('common.more')}
      </Button>
    </Show>
  )
}

function Front(props: {
  shown: Approval | undefined
  detail: Loaded<{ approval: Approval }>
  isGone: boolean
  nextHref: string | null
}): JSX.Element {
  return (
    <Switch>
      <Match when={props.shown}>
        <Show when={props.shown?.id} keyed>
          {(_id) => <Card approval={props.shown} nextHref={props.nextHref} />}
        </Show>
      </Match>
      <Match when={props.isGone}>
        <ErrorState problem={{ title: t('approvals.gone'), why: t('approvals.goneWhy') }} />
      </Match>
      <Match when={props.detail.error}>
        <ErrorState problem={problemOf(props.detail.error)} onRetry={props.detail.retry} />
      </Match>
      <Match when={props.detail.isPending}>
        <Skeleton rows={6} />
      </Match>
      <Match when={true}>
        <p class="text-sm text-ink-3">{t('approvals.choose')}</p>
      </Match>
    </Switch>
  )
}

/** The card of one approval. It keeps the approval while the list is fetched again. */
function Card(props: { approval: Approval | undefined; nextHref: string | null }): JSX.Element {
  const approval = createMemo<Approval>((held) => props.approval ?? held, props.approval!)
  return (
    <ApprovalCard
      approval={approval()}
      isFront
      next={
        <div class="flex flex-wrap items-center gap-2">
          <Show when={props.nextHref} fallback={<p class="text-sm text-ink-3">{t('approvals.allDone')}</p>}>
            {(href) => <NextLink href={href()} />}
          </Show>
          <ButtonLink href={`/jobs/${approval().jobId}`} variant="ghost">
            {t('approvals.openJob')}
          </ButtonLink>
        </div>
      }
    />
  )
}

/** Takes the focus after an answer, so that Enter opens the next approval. */
function NextLink(props: { href: string }): JSX.Element {
  let place!: HTMLSpanElement
  onMount(() => queueMicrotask(() => document.activeElement === document.body && place.querySelector('a')?.focus()))
  return (
    <span ref={(element) => (place = element)}>
      <ButtonLink href={props.href} icon={ArrowRight}>
        {t('approvals.next')}
      </ButtonLink>
    </span>
  )
}

function Nothing(props: { tab: Tab }): JSX.Element {
  return (
    <Show
      when={props.tab === 'waiting'}
      fallback={
        <EmptyState icon={ShieldCheck} title={t('approvals.noneAnswered')}>
          {t('approvals.noneAnsweredText')}
        </EmptyState>
      }
    >
      <EmptyState
        icon={ShieldCheck}
        title={t('approvals.emptyTitle')}
        action={
          <ButtonLink variant="primary" href="/rules">
            {t('approvals.emptyAction')}
          </ButtonLink>
        }
      >
        {t('approvals.emptyText')}
      </EmptyState>
    </Show>
  )
}
