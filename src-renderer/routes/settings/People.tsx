import { createSignal, For, Match, Show, Switch } from 'solid-js'
import { linkPath, type Invitation, type Person, type Role } from '../../../src-main/contract/auth-api.ts'
import { ApiError } from '../../api/client.ts'
import { useAction } from '../../api/mutations.ts'
import { problemOf, sentenceOf } from '../../api/problem.ts'
import { usePeople, useSignIn } from '../../api/queries.ts'
import { useSession } from '../../api/SessionProvider.tsx'
import { toastError } from '../../api/toast-error.ts'
import { locale, t } from '../../lib/language.ts'
import { dayTime } from '../../lib/time.ts'
import { useDesktop } from '../../platform/DesktopProvider.tsx'
import { Button } from '../../ui/Button.tsx'
import { ConfirmDialog } from '../../ui/ConfirmDialog.tsx'
import { CopyButton } from '../../ui/CopyButton.tsx'
import { Dialog } from '../../ui/Dialog.tsx'
import { ErrorState } from '../../ui/ErrorState.tsx'
import { Panel } from '../../ui/Panel.tsx'
import { Row } from '../../ui/Row.tsx'
import { Select } from '../../ui/Select.tsx'
import { toast } from '../../ui/Toasts.tsx'
import { Devices } from './Devices.tsx'
import { CreateOwnerDialog } from './CreateOwnerDialog.tsx'
import { OwnAccount } from './OwnAccount.tsx'
import { ResetPasswordDialog } from './ResetPasswordDialog.tsx'

const roles = () => (['owner', 'member'] as const).map((value) => ({ value, label: t(`settings.people.roles.${value}`) }))

/** Nobody signs in here: the routes of accounts do not exist in `local-trust`. */
const isOff = (thrown: unknown) => thrown instanceof ApiError && thrown.status === 404

/** Who has an account of this dashboard, and which devices are signed in. In a browser of `local-trust` there is nothing to show. */
export function People() {
  const desktop = useDesktop()
  const session = useSession()
  const signIn = useSignIn()
  const isOwner = () => desktop.inApp || session?.person()?.role === 'owner'
  return (
    <Switch>
      <Match when={isOff(signIn.error)}>
        <Panel title={t('settings.sections.people')} flush>
          <Row label={t('settings.people.off')} hint={t('settings.people.offHint')} />
        </Panel>
      </Match>
      <Match when={signIn.error}>
        <ErrorState problem={problemOf(signIn.error)} onRetry={signIn.retry} />
      </Match>
      <Match when={signIn.data}>
        {(state) => (
          <>
            <Show when={state().damagedFile}>
              {(file) => (
                <ErrorState problem={{ title: t('settings.people.damaged'), why: t('settings.people.damagedWhy', { file: file() }) }} />
              )}
            </Show>
            <Show when={session?.person()}>{(person) => <OwnAccount person={person()} />}</Show>
            <Show when={state().hasOwner} fallback={<NoOwner onCreated={signIn.retry} />}>
              <Show when={isOwner()}>
                <Accounts />
              </Show>
              <Devices withNames={isOwner()} />
            </Show>
          </>
        )}
      </Match>
    </Switch>
  )
}

function NoOwner(props: { onCreated: () => void }) {
  const [isOpen, setOpen] = createSignal(false)
  return (
    <Panel title={t('settings.people.people')} flush>
      <Row id="people" label={t('settings.people.noOwner')} hint={t('settings.people.noOwnerHint')}>
        <Button onClick={() => setOpen(true)}>{t('settings.people.createOwner')}</Button>
      </Row>
      <Show when={isOpen()}>
        <CreateOwnerDialog onClose={() => setOpen(false)} onCreated={props.onCreated} />
      </Show>
    </Panel>
  )
}

function Accounts() {
  const desktop = useDesktop()
  const session = useSession()
  const people = usePeople(() => true)
  const change = useAction('changePerson')
  const remove = useAction('removePerson')
  const withdraw = useAction('withdrawInvitation')
  const [leaving, setLeaving] = createSignal<Person | null>(null)
  const [forgetting, setForgetting] = createSignal<Person | null>(null)
  const [isInviting, setInviting] = createSignal(false)
  const isSelf = (person: Person) => person.id === session?.person()?.id
  // The own role or account may have changed, which can end this page.
  const again = async () => {
    people.retry()
    await session?.refresh()
  }
  const changeRole = (person: Person, role: Role) => change.run({ params: { personId: person.id }, body: { role } }).then(again, toastError)
  return (
    <Panel
      title={t('settings.people.people')}
      description={t('settings.people.peopleHint')}
      actions={<Button onClick={() => setInviting(true)}>{t('settings.people.invite')}</Button>}
      flush
    >
      <div id="people" class="outline-none" />
      <For each={people.data?.people}>
        {(person) => (
          <Row
            label={isSelf(person) ? t('settings.people.you', { name: person.name }) : person.name}
            hint={t('settings.people.since', { when: dayTime(person.createdAt, locale()) })}
          >
            <Select
              size="sm"
              label={t('settings.people.roleOf', { name: person.name })}
              hideLabel
              options={roles()}
              value={person.role}
              onValue={(role) => void changeRole(person, role)}
            />
            <Show when={desktop.inApp}>
              <Button size="sm" onClick={() => setForgetting(person)} aria-label={t('settings.people.resetNamed', { name: person.name })}>
                {t('settings.people.reset')}
              </Button>
            </Show>
            <Button
              size="sm"
              variant="danger"
              onClick={() => setLeaving(person)}
              aria-label={t('settings.people.removeNamed', { name: person.name })}
            >
              {t('common.remove')}
            </Button>
          </Row>
        )}
      </For>
      <For each={people.data?.invitations}>
        {(invitation) => (
          <Row
            label={t('settings.people.invitation', { role: t(`settings.people.roles.${invitation.role}`) })}
            hint={invitationHint(invitation)}
          >
            <Button size="sm" onClick={() => void withdraw.run({ params: { invitationId: invitation.id } }).then(people.retry, toastError)}>
              {t('settings.people.withdraw')}
            </Button>
          </Row>
        )}
      </For>
      <Show when={people.error}>
        <div class="p-4">
          <ErrorState compact problem={problemOf(people.error)} onRetry={people.retry} />
        </div>
      </Show>
      <ConfirmDialog
        open={leaving() !== null}
        onClose={() => setLeaving(null)}
        title={t('settings.people.removeTitle', { name: leaving()?.name ?? '' })}
        confirm={t('settings.people.removeConfirm')}
        tone="bad"
        describeError={sentenceOf}
        onConfirm={async () => {
          await remove.run({ params: { personId: leaving()!.id } })
          await again()
        }}
      >
        {t('settings.people.removeText')}
      </ConfirmDialog>
      <Show when={forgetting()}>
        {(person) => (
          <ResetPasswordDialog
            person={person()}
            onClose={() => setForgetting(null)}
            onReset={() => toast({ tone: 'ok', text: t('settings.people.resetDone', { name: person().name }) })}
          />
        )}
      </Show>
      <Show when={isInviting()}>
        <InviteDialog onClose={() => setInviting(false)} onInvited={people.retry} />
      </Show>
    </Panel>
  )
}

function invitationHint({ expiresAt, invitedBy }: Invitation): string {
  const when = dayTime(expiresAt, locale())
  return invitedBy === null ? t('settings.people.validUntil', { when }) : t('settings.people.invitedBy', { name: invitedBy, when })
}

/** First the role, then the link, which is shown this once. */
function InviteDialog(props: { onClose: () => void; onInvited: () => void }) {
  const desktop = useDesktop()
  const invite = useAction('invite')
  const [role, setRole] = createSignal<Role>('member')
  const [link, setLink] = createSignal<string | null>(null)
  const base = () => {
    const state = desktop.state()
    if (!desktop.inApp || state?.dashboard.state !== 'ready') return location.origin
    // While it is shared, the link is for another device.
    return state.sharing.urls[0] ?? state.dashboard.dashboardUrl
  }
  const create = async () => {
    try {
      const answer = await invite.run({ body: { role: role() } })
      setLink(base() + linkPath('invite', answer.link))
      props.onInvited()
    } catch (thrown) {
      toastError(thrown)
    }
  }
  return (
    <Dialog
      open
      onClose={props.onClose}
      title={t('settings.people.inviteTitle')}
      description={link() === null ? undefined : t('settings.people.linkText')}
      actions={
        <Show
          when={link() === null}
          fallback={
            <Button variant="primary" onClick={() => props.onClose()}>
              {t('settings.people.done')}
            </Button>
          }
        >
          <Button onClick={() => props.onClose()}>{t('common.cancel')}</Button>
          <Button variant="primary" busy={invite.isRunning} onClick={() => void create()}>
            {t('settings.people.createLink')}
          </Button>
        </Show>
      }
    >
      <Show
        when={link()}
        fallback={
          <Select
            label={t('settings.people.role')}
            hint={t(`settings.people.roleHints.${role()}`)}
            options={roles()}
            value={role()}
            onValue={setRole}
          />
        }
      >
        {(text) => (
          <div class="flex items-center gap-2">
            <code
              data-link
              class="min-w-0 flex-1 rounded-md border border-line bg-inset px-2 py-1.5 font-mono text-xs text-ink wrap-anywhere"
            >
              {text()}
            </code>
            <CopyButton text={text()} copy={desktop.copyText} />
          </div>
        )}
      </Show>
    </Dialog>
  )
}
