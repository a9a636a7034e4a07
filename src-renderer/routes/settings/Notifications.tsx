import { createSignal, For, type JSX, Show } from 'solid-js'
import { NotificationKind, type NotificationSettings } from '../../../src-runner/contract/notifications.ts'
import { useMay } from '../../api/may.ts'
import { useUpdateSettings } from '../../api/mutations.ts'
import { useSettings } from '../../api/queries.ts'
import { toastError } from '../../api/toast-error.ts'
import { t } from '../../lib/language.ts'
import { Panel } from '../../ui/Panel.tsx'
import { Switch } from '../../ui/Switch.tsx'
import { TextField } from '../../ui/TextField.tsx'

/** The quiet hours to start with. */
const FIRST_QUIET_HOURS = { from: '22:00', until: '07:00' }

/** A switch for each kind of notification, and quiet hours. */
export function Notifications(): JSX.Element {
  const settings = useSettings()
  const change = useUpdateSettings()
  const may = useMay()
  const isLocked = () => !may('updateSettings')
  const save = (notifications: NotificationSettings) => void change.run({ body: { notifications } }).catch(toastError)
  return (
    <Show when={settings.data?.settings.notifications}>
      {(held) => (
        <Panel title={t('settings.notifications.title')} description={t('settings.notifications.about')} flush>
          <ul class="py-1">
            <For each={NotificationKind.options}>
              {(kind) => (
                <li id={`notify-${kind}`} class="px-4 py-1.5 outline-none focus:bg-accent-soft">
                  <Switch
                    label={t(`settings.notifications.kinds.${kind}`)}
                    checked={held().kinds[kind]}
                    disabled={isLocked()}
                    onChecked={(on) => save({ ...held(), kinds: { ...held().kinds, [kind]: on } })}
                  />
                </li>
              )}
            </For>
          </ul>
          <div id="quiet-hours" class="flex flex-col gap-3 border-t border-line px-4 py-3 outline-none focus:bg-accent-soft">
            <Switch
              label={t('settings.notifications.quiet')}
              hint={t('settings.notifications.quietHint')}
              checked={held().quietHours !== null}
              disabled={isLocked()}
              onChecked={(on) => save({ ...held(), quietHours: on ? FIRST_QUIET_HOURS : null })}
            />
            <Show when={held().quietHours}>
              {(hours) => (
                <div class="flex gap-3">
                  <ClockField
                    label={t('settings.notifications.quietFrom')}
                    value={hours().from}
                    disabled={isLocked()}
                    onValue={(from) => save({ ...held(), quietHours: { ...hours(), from } })}
                  />
                  <ClockField
                    label={t('settings.notifications.quietUntil')}
                    value={hours().until}
                    disabled={isLocked()}
                    onValue={(until) => save({ ...held(), quietHours: { ...hours(), until } })}
                  />
                </div>
              )}
            </Show>
          </div>
        </Panel>
      )}
    </Show>
  )
}

/** Saved on blur if it holds a complete time. */
function ClockField(props: { label: string; value: string; disabled: boolean; onValue: (value: string) => void }): JSX.Element {
  const [typed, setTyped] = createSignal<string | null>(null)
  const leave = () => {
    const value = typed()
    setTyped(null)
    if (value !== null && /^\d{2}:\d{2}$/.test(value) && value !== props.value) props.onValue(value)
  }
  return (
    <div class="w-32">
      <TextField
        label={props.label}
        type="time"
        required
        disabled={props.disabled}
        value={typed() ?? props.value}
        onValue={setTyped}
        onBlur={leave}
      />
    </div>
  )
}
