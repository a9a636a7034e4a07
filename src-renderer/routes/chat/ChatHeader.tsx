import { useNavigate } from '@solidjs/router'
import Bot from 'lucide-solid/icons/bot'
import PanelLeft from 'lucide-solid/icons/panel-left'
import SquarePen from 'lucide-solid/icons/square-pen'
import Trash from 'lucide-solid/icons/trash'
import { createSignal, Show } from 'solid-js'
import type { Agent } from '../../../src-runner/contract/agents.ts'
import { isTerminal } from '../../../src-runner/contract/jobs.ts'
import type { RouteAnswer } from '../../../src-runner/contract/routes.ts'
import { useAction } from '../../api/mutations.ts'
import { sentenceOf } from '../../api/problem.ts'
import { ChannelIcon } from '../../features/chat-turn/ChannelIcon.tsx'
import { keepDraft } from '../../lib/drafts.ts'
import { t } from '../../lib/language.ts'
import { Avatar } from '../../ui/Avatar.tsx'
import { ConfirmDialog } from '../../ui/ConfirmDialog.tsx'
import { IconButton } from '../../ui/IconButton.tsx'
import { Menu } from '../../ui/Menu.tsx'
import { toast } from '../../ui/Toasts.tsx'
import { draftOf } from './chat-turns.ts'

/** Who the person talks to, through which channel, and what can be done with the whole conversation. */
export function ChatHeader(props: {
  title: string
  agent: Agent | undefined
  agentName: string
  /** undefined: a new chat, or not loaded yet. */
  conversation: RouteAnswer<'getConversation'> | undefined
  hasTurns: boolean
  onList: () => void
  onNew: () => void
}) {
  const navigate = useNavigate()
  const remove = useAction('deleteConversation')
  const [isDeleting, setDeleting] = createSignal(false)
  /** The chat service that the conversation takes place on, if any. */
  const outsideChannel = () => props.conversation?.jobs.findLast((job) => job.channel !== 'chat' && job.channel !== 'api')?.channel
  const isRunning = () => props.conversation?.jobs.some((job) => !isTerminal(job.status)) === true
  const deleteNow = async () => {
    const conversationId = props.conversation!.conversation.id
    await remove.run({ params: { conversationId } })
    keepDraft(draftOf(conversationId), '')
    toast({ text: t('chat.deleted') })
    navigate('/chat', { replace: true })
  }
  return (
    <>
      <header class="flex h-13 shrink-0 items-center gap-2.5 border-b border-line px-4">
        <span class="lg:hidden">
          <IconButton icon={PanelLeft} label={t('chat.backToList')} onClick={() => props.onList()} />
        </span>
        <Show when={props.conversation !== undefined || props.hasTurns}>
          <Avatar name={props.agentName} text={props.agent?.avatar} size="sm" />
        </Show>
        <div class="min-w-0 flex-1">
          <h1 class="truncate text-sm font-semibold text-ink">{props.title}</h1>
          <Show when={props.conversation}>
            <p class="flex min-w-0 items-center gap-1.5 text-xs text-ink-3">
              <span class="truncate">{props.agentName}</span>
              <Show when={outsideChannel()}>
                {(channel) => (
                  <span class="flex shrink-0 items-center gap-1">
                    <span aria-hidden="true">·</span>
                    <ChannelIcon channel={channel()} size={12} />
                    {t('automations.origin.via', { channel: t(`common.channel.${channel()}`) })}
                  </span>
                )}
              </Show>
            </p>
          </Show>
        </div>
        <span class="lg:hidden">
          <IconButton icon={SquarePen} label={t('chat.newChat')} onClick={() => props.onNew()} />
        </span>
        <Show when={props.conversation}>
          <Menu
            label={t('common.more')}
            items={[
              {
                label: t('chat.fix.agent'),
                icon: Bot,
                disabled: props.agent === undefined,
                onSelect: () => navigate(`/agents/${props.agent!.id}`),
              },
              'separator',
              { label: t('chat.deleteConversation'), icon: Trash, tone: 'bad', onSelect: () => setDeleting(true) },
            ]}
          />
        </Show>
      </header>
      <ConfirmDialog
        open={isDeleting()}
        onClose={() => setDeleting(false)}
        title={t('chat.deleteTitle', { title: props.title })}
        confirm={t('chat.deleteConversation')}
        tone="bad"
        onConfirm={deleteNow}
        describeError={sentenceOf}
      >
        <p>{t('chat.deleteText')}</p>
        <Show when={isRunning()}>
          <p class="mt-2 text-warn">{t('chat.deleteRunning')}</p>
        </Show>
      </ConfirmDialog>
    </>
  )
}
