import { A } from '@solidjs/router'
import { createMemo, type JSX, Show } from 'solid-js'
import type { Approval } from '../../../src-runner/contract/approvals.ts'
import { useApproval, usePendingApprovals } from '../../api/queries.ts'
import { ApprovalCard } from '../../features/approvals/ApprovalCard.tsx'
import { t } from '../../lib/language.ts'
import { KeyedFor } from '../../ui/KeyedFor.tsx'

/** More would push everything else out of sight. */
const AT_ONCE = 2

/** The approvals that expire first, to answer here. An answered card stays and shows the outcome. */
export function WaitingApprovals(): JSX.Element {
  const answer = usePendingApprovals()
  const shown = createMemo<Approval[]>((before) => {
    const pending = (answer.data?.approvals ?? []).filter((one) => one.status === 'pending').toSorted((a, b) => a.expiresAt - b.expiresAt)
    const open = before.filter((one) => pending.some(({ id }) => id === one.id)).length
    const fresh = pending.filter((one) => !before.some(({ id }) => id === one.id))
    return [...before, ...fresh.slice(0, Math.max(0, AT_ONCE - open))]
  }, [])
  const others = () => (answer.data?.pending ?? 0) - shown().filter((one) => one.status === 'pending').length
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
