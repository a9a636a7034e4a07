import { createMemo, type JSX } from 'solid-js'
import { t } from '../../../lib/language.ts'
import { Combobox, type ComboOption } from '../../../ui/Combobox.tsx'
import { ownTimezone } from '../../../lib/time.ts'
import { allTimezones } from './zone-time.ts'

/** Choice of a time zone by typing a part of its name. The machine's own comes first. */
export function TimezoneField(props: { value: string; onValue: (timezone: string) => void; problem: string | null }): JSX.Element {
  const options = createMemo((): ComboOption[] => {
    const own = ownTimezone()
    const names = allTimezones()
    const option = (name: string): ComboOption => ({
      value: name,
      label: name.replaceAll('_', ' '),
      group: name === own ? t('automations.schedule.timezoneOwn') : (name.split('/', 1)[0] ?? name),
    })
    // The zone of a schedule is kept, even if this page does not know it.
    return [...new Set([own, ...(props.value === '' ? [] : [props.value]), ...names])].map(option)
  })
  return (
    <Combobox
      label={t('automations.schedule.timezone')}
      hint={t('automations.schedule.timezoneHint')}
      limit={30}
      options={options()}
      value={props.value}
      onValue={(next) => next !== null && props.onValue(next)}
      problem={props.problem}
    />
  )
}
