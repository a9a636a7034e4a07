import Copy from 'lucide-solid/icons/copy'
import KeyRound from 'lucide-solid/icons/key-round'
import MessageSquare from 'lucide-solid/icons/message-square'
import Unplug from 'lucide-solid/icons/unplug'
import { createSignal, Show } from 'solid-js'
import { A } from '@solidjs/router'
import { SERVICE_NAMES, type Channel } from '../../../src-runner/contract/channels.ts'
import { useMay } from '../../api/may.ts'
import { useAction } from '../../api/mutations.ts'
import { sentenceOf } from '../../api/problem.ts'
import { toastError } from '../../api/toast-error.ts'
import { messageText } from '../../lib/message-text.ts'
import { visibleText } from '../../lib/visible-text.ts'
import { t } from '../../lib/language.ts'
import { useDesktop } from '../../platform/DesktopProvider.tsx'
import { tryToCopy } from '../../ui/copy.ts'
import { Button } from '../../ui/Button.tsx'
import { ConfirmDialog } from '../../ui/ConfirmDialog.tsx'
import { Menu } from '../../ui/Menu.tsx'
import { Pill } from '../../ui/Pill.tsx'
import { Switch } from '../../ui/Switch.tsx'
import { Time } from '../../ui/Time.tsx'
import { toast } from '../../ui/Toasts.tsx'
import { ChannelPeople } from './ChannelPeople.tsx'

const TONES = { off: 'plain', connecting: 'accent', open: 'ok', failing: 'warn', logged_out: 'bad' } as const

/** One account: whether it works, its owner, and who may write. */
export function ChannelCard(props: { channel: Channel; onNewToken: () => void }) {
  const desktop = useDesktop()
  const may = useMay()
  const mayChange = () => may('updateChannel')
  const change = useAction('updateChannel')
  const test = useAction('testChannel')
  const remove = useAction('deleteChannel')
  const [isRemoving, setRemoving] = createSignal(false)
  const service = () => SERVICE_NAMES[props.channel.kind]
  const params = () => ({ channelId: props.channel.id })
  /** Linked by a code. There is no token to enter. */
  const isPaired = () => props.channel.kind === 'messenger'
  const hasOwner = () => props.channel.people.some((person) => person.role === 'owner')
  const sendTest = async () => {
    try {
      const { ok, message } = await test.run({ params: params() })
      toast(ok ? { text: t('channels.tested') } : { tone: 'bad', text: messageText(message) })
    } catch (thrown) {
      toastError(thrown)
    }
  }
  const copyLink = async (link: string) => {
    if (await tryToCopy(() => desktop.copyText(link))) toast({ text: t('common.copied') })
  }
  return (
    <section aria-label={props.channel.name} class="rounded-xl border border-line bg-surface">
      <header class="flex flex-wrap items-center gap-x-3 gap-y-2 px-4 pt-3 pb-2">
        <div class="min-w-0 flex-1">
          <div class="flex flex-wrap items-center gap-x-2 gap-y-1">
            <h2 class="truncate text-md font-semibold text-ink">{visibleText(props.channel.name)}</h2>
            <Pill tone={TONES[props.channel.status]}>{t(`channels.status.${props.channel.status}`)}</Pill>
          </div>
          <p class="text-xs text-ink-3">
            {t(`channels.kinds.${props.channel.kind}`)} ·{' '}
            <A href={`/agents/${props.channel.agentId}`} class="hover:underline">
              {props.channel.agentName}
            </A>{' '}
            ·{' '}
            <Show when={props.channel.lastRoundTripAt} fallback={t('channels.neverAnswered', { service: service() })}>
              {(at) => (
                <>
                  {t('channels.lastAnswer')} <Time at={at()} />
                </>
              )}
            </Show>
          </p>
        </div>
        <div class="[&_label]:sr-only">
          <Switch
            label={t('channels.switchLabel', { name: props.channel.name })}
            checked={props.channel.enabled}
            disabled={change.isRunning || !mayChange()}
            onChecked={(enabled) => void change.run({ params: params(), body: { enabled } }).catch(toastError)}
          />
        </div>
        <Show when={hasOwner() || mayChange() || props.channel.link}>
          <Menu
            label={t('channels.actions', { name: props.channel.name })}
            items={[
              ...(props.channel.link
                ? [{ label: t('channels.copyLink'), icon: Copy, onSelect: () => void copyLink(props.channel.link!) }]
                : []),
              ...(hasOwner() ? [{ label: t('channels.test'), icon: MessageSquare, onSelect: () => void sendTest() }] : []),
              ...(isPaired() || !mayChange()
                ? []
                : [{ label: t('channels.newToken'), icon: KeyRound, onSelect: () => props.onNewToken() }]),
              ...(mayChange()
                ? [
                    'separator' as const,
                    { label: t('channels.disconnect'), icon: Unplug, tone: 'bad' as const, onSelect: () => setRemoving(true) },
                  ]
                : []),
            ]}
          />
        </Show>
      </header>
      <Show when={props.channel.problem}>
        {(problem) => (
          <div class="mx-4 mb-3 flex flex-wrap items-center gap-x-3 gap-y-2 rounded-md bg-warn-soft px-3 py-2">
            <p role="alert" class="min-w-60 flex-1 text-sm wrap-anywhere text-ink">
              {messageText(problem())}
            </p>
            {/* The actions stand next to the problem that they fix. */}
            <Show when={mayChange() && props.channel.status === 'logged_out'}>
              <Button size="sm" icon={KeyRound} onClick={() => props.onNewToken()}>
                {t(isPaired() ? 'channels.pairing.again' : 'channels.newToken')}
              </Button>
            </Show>
          </div>
        )}
      </Show>
      <ChannelPeople channel={props.channel} />
      <ConfirmDialog
        open={isRemoving()}
        onClose={() => setRemoving(false)}
        title={t('channels.disconnectTitle', { name: props.channel.name })}
        confirm={t('channels.disconnect')}
        tone="bad"
        onConfirm={() => remove.run({ params: params() })}
        describeError={sentenceOf}
      >
        {t(isPaired() ? 'channels.pairing.disconnectWhy' : 'channels.disconnectWhy')}
      </ConfirmDialog>
    </section>
  )
}
