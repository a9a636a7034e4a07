import { A } from '@solidjs/router'
import { createSignal, For, type JSX, Show } from 'solid-js'
import { SERVICE_NAMES, type Channel, type ChannelPerson } from '../../../src-runner/contract/channels.ts'
import { useMay } from '../../api/may.ts'
import { useAction } from '../../api/mutations.ts'
import { sentenceOf } from '../../api/problem.ts'
import { toastError } from '../../api/toast-error.ts'
import { visibleText } from '../../lib/visible-text.ts'
import { t } from '../../lib/language.ts'
import { Button } from '../../ui/Button.tsx'
import { ConfirmDialog } from '../../ui/ConfirmDialog.tsx'
import { Pill } from '../../ui/Pill.tsx'
import { Time } from '../../ui/Time.tsx'

/** The people who wrote to an account. Those who wait for an answer come first. */
export function ChannelPeople(props: { channel: Channel }): JSX.Element {
  const may = useMay()
  const ofRole = (role: ChannelPerson['role']) => props.channel.people.filter((person) => person.role === role)
  const owner = () => ofRole('owner')
  const known = () => [...owner(), ...ofRole('allowed'), ...ofRole('refused')]
  return (
    <Show
      when={props.channel.people.length > 0}
      fallback={
        <p class="border-t border-line px-4 py-3 text-sm text-ink-2">
          {may('updateChannelPerson')
            ? t('channels.nobody', { name: props.channel.name, service: SERVICE_NAMES[props.channel.kind] })
            : t('channels.nobodyMember')}
        </p>
      }
    >
      <Show when={ofRole('requested').length > 0}>
        <div class="border-t border-line bg-warn-soft/40 px-4 py-3">
          <h3 class="text-xs font-semibold text-ink-2">{t('channels.asks')}</h3>
          <p class="mb-2 text-xs text-ink-3">{t(may('updateChannelPerson') ? 'channels.asksWhy' : 'channels.asksMember')}</p>
          <ul class="flex flex-col gap-2">
            <For each={ofRole('requested')}>{(person) => <Person channel={props.channel} person={person} />}</For>
          </ul>
        </div>
      </Show>
      <Show when={known().length > 0 || owner().length === 0}>
        <div class="border-t border-line px-4 py-3">
          <Show when={owner().length === 0}>
            <Show when={props.channel.pairingCode} fallback={<p class="text-sm text-ink-2">{t('channels.noOwnerMember')}</p>}>
              {(code) => (
                <>
                  <p class="text-sm text-ink-2">{t('channels.noOwner')}</p>
                  <p class="text-xs text-ink-3 select-text">{t('channels.notAmong', { name: props.channel.name, code: code() })}</p>
                </>
              )}
            </Show>
          </Show>
          <ul aria-label={t('channels.people')} class="flex flex-col gap-2">
            <For each={known()}>{(person) => <Person channel={props.channel} person={person} />}</For>
          </ul>
          <Show when={props.channel.kind === 'messenger' && owner().length > 0 && props.channel.pairingCode}>
            {(code) => <p class="mt-2 text-xs text-ink-3 select-text">{t('channels.pairing.others', { code: code() })}</p>}
          </Show>
        </div>
      </Show>
    </Show>
  )
}

function Person(props: { channel: Channel; person: ChannelPerson }): JSX.Element {
  const may = useMay()
  const mayDecide = () => may('updateChannelPerson')
  const change = useAction('updateChannelPerson')
  const [asking, setAsking] = createSignal<'owner' | 'allowed' | null>(null)
  const name = () => visibleText(props.person.displayName)
  /** The number that the service shows proves who it is. */
  const isPhone = () => props.channel.kind === 'messenger' && props.person.handle !== null
  // Once there is an owner, another one is unlikely.
  const hasOwner = () => props.channel.people.some((person) => person.role === 'owner')
  const give = (role: 'owner' | 'allowed' | 'refused') =>
    change.run({ params: { channelId: props.channel.id, personId: props.person.id }, body: { role } })
  const refuse = () => void give('refused').catch(toastError)
  return (
    <li class="flex flex-wrap items-center gap-x-3 gap-y-1.5">
      <div class="min-w-40 flex-1">
        <p class="flex flex-wrap items-center gap-x-2">
          <span class="truncate font-medium text-ink">{name()}</span>
          <Show when={props.person.isRoom}>
            <Pill>{t('channels.room')}</Pill>
          </Show>
          <Show when={props.person.role !== 'requested'}>
            <Pill tone={props.person.role === 'owner' ? 'ok' : 'plain'}>
              {t(props.person.role === 'owner' && !mayDecide() ? 'settings.people.roles.owner' : `channels.roles.${props.person.role}`)}
            </Pill>
          </Show>
        </p>
        <p class="text-xs text-ink-3">
          <Show when={props.person.handle}>{(handle) => <>{visibleText(handle())} · </>}</Show>
          <Show when={!props.person.isRoom && !isPhone()}>
            <span class="font-mono">{t('channels.number', { id: props.person.externalId })}</span> ·{' '}
          </Show>
          {t('channels.wrote')} <Time at={props.person.lastMessageAt} />
        </p>
      </div>
      <div class="flex flex-wrap items-center gap-1.5">
        <Show when={props.person.conversationId}>
          {(conversationId) => (
            <A href={`/chat/${conversationId()}`} class="px-1 text-xs text-accent-ink hover:underline">
              {t('channels.openConversation')}
            </A>
          )}
        </Show>
        <Show when={mayDecide() && props.person.role !== 'owner' && !props.person.isRoom}>
          <Button
            size="sm"
            variant={props.person.role === 'requested' && !hasOwner() ? 'primary' : 'ghost'}
            disabled={change.isRunning}
            onClick={() => setAsking('owner')}
          >
            {t('channels.isMe')}
          </Button>
        </Show>
        <Show when={mayDecide() && (props.person.role === 'requested' || props.person.role === 'refused')}>
          <Button size="sm" disabled={change.isRunning} onClick={() => setAsking('allowed')}>
            {t('channels.letIn')}
          </Button>
        </Show>
        <Show when={mayDecide() && (props.person.role === 'requested' || props.person.role === 'allowed')}>
          <Button size="sm" variant="ghost" disabled={change.isRunning} onClick={refuse}>
            {t('channels.refuse')}
          </Button>
        </Show>
      </div>
      <ConfirmDialog
        open={asking() === 'owner'}
        onClose={() => setAsking(null)}
        title={t('channels.isMeTitle', { name: name() })}
        confirm={t('channels.isMe')}
        onConfirm={() => give('owner')}
        describeError={sentenceOf}
      >
        <p>{t('channels.isMeWhy')}</p>
        <p class="mt-2 font-mono text-xs">
          {[
            props.person.handle === null ? null : visibleText(props.person.handle),
            isPhone() ? null : t('channels.number', { id: props.person.externalId }),
          ]
            .filter((part) => part !== null)
            .join(' · ')}
        </p>
      </ConfirmDialog>
      <ConfirmDialog
        open={asking() === 'allowed'}
        onClose={() => setAsking(null)}
        title={t('channels.letInTitle', { name: name() })}
        confirm={t('channels.letIn')}
        onConfirm={() => give('allowed')}
        describeError={sentenceOf}
      >
        <p>{t('channels.letInWhy')}</p>
        <p class="mt-2">{t('channels.letInReach', { agent: props.channel.agentName })}</p>
      </ConfirmDialog>
    </li>
  )
}
