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

type Tab = 'webhooks' | 'schedules'

/** Webhooks and schedules. */
export function AutomationsScreen(): JSX.Element {
  const params = useParams<{ tab?: string }>()
  const navigate = useNavigate()
  const tab = (): Tab => (params.tab === 'schedules' ? 'schedules' : 'webhooks')
  return (
    <Screen>
      <PageHeader
        title={t('automations.title')}
        description={t('automations.intro')}
        actions={
          <Show
            when={tab() === 'webhooks'}
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
      <Tabs<Tab>
        label={t('automations.tabs')}
        value={tab()}
        onValue={(next) => next !== tab() && navigate(`/automations/${next}`)}
        tabs={[
          { value: 'webhooks', label: t('automations.webhooks'), content: () => <TriggerList /> },
          { value: 'schedules', label: t('automations.schedules'), content: () => <ScheduleList /> },
        ]}
      />
    </Screen>
  )
}
