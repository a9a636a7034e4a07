import { A } from '@solidjs/router'
import { createMemo, type JSX, Show } from 'solid-js'
import type { Approval } from '../../../src-runner/contract/approvals.ts'
import { useApproval, usePendingApprovals } from '../../api/queries.ts'
import { ApprovalCard } from '../../features/approvals/ApprovalCard.tsx'
import { t } from '../../lib/language.ts'
import { KeyedFor } from '../../ui/KeyedFor.tsx'

/** More would push everything else out of sight. */
const AT_ONCE = 2

/** The approvals that expire first, to answer here. The cards that were answered last stay and show the outcome. */
export function WaitingApprovals(): JSX.Element {
  const answer = usePendingApprovals()
  const pending = createMemo(() =>
    (answer.data?.approvals ?? []).filter((one) => one.status === 'pending').toSorted((a, b) => a.expiresAt - b.expiresAt),
  )
  const isPending = ({ id }: Approval) => pending().some((one) => one.id === id)
  // `answered`: the ids of the cards that are no longer pending, the last answered at the end.
  const cards = createMemo<{ shown: Approval[]; answered: string[] }>(
    (before) => {
      const left = before.shown.filter((one) => !isPending(one)).map(({ id }) => id)
      const answered = [...before.answered.filter((id) => left.includes(id)), ...left.filter((id) => !before.answered.includes(id))].slice(
        -AT_ONCE,
      )
      const kept = before.shown.filter((one) => isPending(one) || answered.includes(one.id))
      const fresh = pending().filter((one) => !kept.some(({ id }) => id === one.id))
      return { shown: [...kept, ...fresh.slice(0, Math.max(0, AT_ONCE - kept.filter(isPending).length))], answered }
    },
    { shown: [], answered: [] },
  )
  const shown = () => cards().shown
  const others = () => (answer.data?.pending ?? 0) - shown().filter(isPending).length
  return (
    <Show when={shown().length > 0}>
      <section aria-label={t('approvals.title')} class="flex flex-col gap-3">
        <KeyedFor each={shown()} keyOf={(one) => one.id}>
          {(one) => <Followed approval={one()} />}
        </KeyedFor>
        <Show when={others() > 0}>
          <A href="/approvals" class="self-start text-xs font-medium text-accent-ink hover:underline">
            {t('home.attention.moreApprovals', { count: others() })}
          </A>
        </Show>
      </section>
    </Show>
  )
}

/** Follows an approval that has left the list, so that its card learns that it was answered elsewhere. */
function Followed(props: { approval: Approval }): JSX.Element {
  const detail = useApproval(() => props.approval.id)
  return <ApprovalCard approval={detail.data?.approval ?? props.approval} />
}
