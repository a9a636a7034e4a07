import { useNavigate } from '@solidjs/router'
import CircleUser from 'lucide-solid/icons/circle-user'
import LogOut from 'lucide-solid/icons/log-out'
import Users from 'lucide-solid/icons/users'
import { type JSX, Show } from 'solid-js'
import { useAction } from '../api/mutations.ts'
import { useSession } from '../api/SessionProvider.tsx'
import { toastError } from '../api/toast-error.ts'
import { t } from '../lib/language.ts'
import { Menu } from '../ui/Menu.tsx'

function useSignOut(): () => void {
  const session = useSession()
  const signOut = useAction('signOut')
  return () => void signOut.run({}).then(() => session?.refresh(), toastError)
}

/** Only where somebody is signed in. */
export function AccountMenu(): JSX.Element {
  const session = useSession()
  const navigate = useNavigate()
  const signOut = useSignOut()
  return (
    <Show when={session?.person()}>
      {(person) => (
        <div class="flex">
          <Menu
            label={t('shell.account', { name: person().name })}
            icon={CircleUser}
            text={person().name}
            items={[
              { label: t('settings.sections.people'), icon: Users, onSelect: () => navigate('/settings/people') },
              { label: t('signIn.signOut'), icon: LogOut, onSelect: signOut },
            ]}
          />
        </div>
      )}
    </Show>
  )
}

/** The same as a line of the phone's sheet. */
export function SignOutItem(props: { class: string }): JSX.Element {
  const session = useSession()
  const signOut = useSignOut()
  return (
    <Show when={session?.person()}>
      {(person) => (
        <button type="button" class={props.class} onClick={signOut}>
          <LogOut size={18} aria-hidden="true" />
          <span class="min-w-0 truncate">{t('signIn.signOutNamed', { name: person().name })}</span>
        </button>
      )}
    </Show>
  )
}
