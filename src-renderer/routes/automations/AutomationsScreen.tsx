import { useNavigate, useParams } from '@solidjs/router'
import Plus from 'lucide-solid/icons/plus'
import { type JSX, Show } from 'solid-js'
import { t } from '../../lib/language.ts'
import { ButtonLink } from '../../ui/ButtonLink.tsx'
import { PageHeader } from '../../ui/PageHeader.tsx'
import { Screen } from '../../ui/Screen.tsx'
import { Tabs } from '../../ui/Tabs.tsx'
import { ScheduleList } from './schedules/ScheduleList.tsx'
import { TriggerList } from './webhooks/TriggerList.tsx'

type Shelf = 'webhooks' | 'schedules'

/** Webhooks and schedules. */
export function AutomationsScreen(): JSX.Element {
  const params = useParams<{ shelf?: string }>()
  const navigate = useNavigate()
  const shelf = (): Shelf => (params.shelf === 'schedules' ? 'schedules' : 'webhooks')
  return (
    <Screen>
      <PageHeader
        title={t('automations.title')}
        description={t('automations.intro')}
        actions={
          <Show
            when={shelf() === 'webhooks'}
            fallback={
              <ButtonLink variant="primary" icon={Plus} href="/automations/schedules/new">
                {t('automations.schedule.new')}
              </ButtonLink>
            }
          >
            <ButtonLink variant="primary" icon={Plus} href="/automations/webhooks/new">
              {t('automations.webhook.new')}
            </ButtonLink>
          </Show>
        }
      />
      <Tabs<Shelf>
        label={t('automations.tabs')}
        value={shelf()}
        onValue={(next) => next !== shelf() && navigate(`/automations/${next}`)}
        tabs={[
          { value: 'webhooks', label: t('automations.webhooks'), content: () => <TriggerList /> },
          { value: 'schedules', label: t('automations.schedules'), content: () => <ScheduleList /> },
        ]}
      />
    </Screen>
  )
}
