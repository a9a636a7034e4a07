import { A } from '@solidjs/router'
import RotateCcw from 'lucide-solid/icons/rotate-ccw'
import { For, type JSX, Show } from 'solid-js'
import type { OutboundMessage } from '../../../src-runner/contract/outbox.ts'
import { useAction } from '../../api/mutations.ts'
import { useUndeliverable } from '../../api/queries.ts'
import { toastError } from '../../api/toast-error.ts'
import { messageText } from '../../lib/message-text.ts'
import { previewOf } from '../../lib/text.ts'
import { visibleText } from '../../lib/visible-text.ts'
import { t } from '../../lib/language.ts'
import { Button } from '../../ui/Button.tsx'
import { Panel } from '../../ui/Panel.tsx'
import { Time } from '../../ui/Time.tsx'
import { toast } from '../../ui/Toasts.tsx'

/** Messages that could not be delivered. Shows nothing when there are none. */
export function Undeliverable(): JSX.Element {
  const messages = useUndeliverable()
  return (
    <Show when={(messages.data?.messages.length ?? 0) > 0}>
      <Panel title={t('channels.outbox.title')} flush>
        <ul class="pb-1">
          <For each={messages.data!.messages}>{(message) => <Line message={message} />}</For>
        </ul>
      </Panel>
    </Show>
  )
}

function Line(props: { message: OutboundMessage }): JSX.Element {
  const retry = useAction('retryOutbound')
  const again = () =>
    void retry
      .run({ params: { messageId: props.message.id } })
      .then(() => toast({ text: t('channels.outbox.queued') }))
      .catch(toastError)
  return (
    <li class="flex flex-wrap items-start gap-x-3 gap-y-2 px-4 py-2">
      <div class="min-w-48 flex-1">
        <p class="text-xs text-ink-3">
          {t(`channels.outbox.kinds.${props.message.kind}`)} · {props.message.agentName} · <Time at={props.message.createdAt} /> ·{' '}
          {t('channels.outbox.tries', { count: props.message.tries })}
          <Show when={props.message.jobId}>
            {(jobId) => (
              <>
                {' · '}
                <A href={`/jobs/${jobId()}`} class="text-accent-ink hover:underline">
                  {t('channels.outbox.job')}
                </A>
              </>
            )}
          </Show>
        </p>
        <p class="line-clamp-2 text-sm wrap-anywhere text-ink">{visibleText(previewOf(props.message.text))}</p>
        <p class="text-xs wrap-anywhere text-bad">{messageText(props.message.problem)}</p>
      </div>
      <Button size="sm" icon={RotateCcw} busy={retry.isRunning} onClick={again}>
        {t('channels.outbox.again')}
      </Button>
    </li>
  )
}
