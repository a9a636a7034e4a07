import { useNavigate, useParams, useSearchParams } from '@solidjs/router'
import { type JSX, Match, Switch } from 'solid-js'
import type { Schedule } from '../../../../src-runner/contract/schedules.ts'
import { AnswerState } from '../../../api/AnswerState.tsx'
import { useAction } from '../../../api/mutations.ts'
import { isNoSuchThing } from '../../../api/problem.ts'
import { UnpricedNote } from '../../../features/models/UnpricedNote.tsx'
import { useAgents, useSchedule } from '../../../api/queries.ts'
import { locale, t } from '../../../lib/language.ts'
import { ErrorState } from '../../../ui/ErrorState.tsx'
import { PageHeader } from '../../../ui/PageHeader.tsx'
import { Panel } from '../../../ui/Panel.tsx'
import { Screen } from '../../../ui/Screen.tsx'
import { Select } from '../../../ui/Select.tsx'
import { TextArea } from '../../../ui/TextArea.tsx'
import { TextField } from '../../../ui/TextField.tsx'
import { toast } from '../../../ui/Toasts.tsx'
import { AgentField, useDefaultAgent } from '../AgentField.tsx'
import { BackLink } from '../../../ui/BackLink.tsx'
import { NotifyField } from '../NotifyField.tsx'
import { EditorForm } from '../../../features/forms/EditorForm.tsx'
import { type Form, useForm } from '../../../features/forms/use-form.ts'
import { catchUpText } from './catch-up.ts'
import { RhythmField } from './RhythmField.tsx'
import {
  bodyOfSchedule,
  changesOfSchedule,
  copyOfSchedule,
  emptySchedule,
  exampleSchedule,
  fieldOfScheduleIssue,
  formOfSchedule,
  problemsOfSchedule,
  type ScheduleForm,
} from './schedule-form.ts'
import { TimezoneField } from './TimezoneField.tsx'

/** `/automations/schedules/new` (with `?example=1` or `?from=` filled in) and `/automations/schedules/<id>/edit`. */
export function ScheduleEditScreen(): JSX.Element {
  const params = useParams<{ scheduleId?: string }>()
  const [search] = useSearchParams<{ example?: string; from?: string }>()
  const sourceId = () => params.scheduleId ?? search.from
  const source = useSchedule(sourceId)
  return (
    <Screen width="medium">
      <BackLink href="/automations/schedules">{t('automations.schedules')}</BackLink>
      <Switch fallback={<AnswerState answer={source} />}>
        <Match when={sourceId() === undefined}>
          <Editor schedule={null} first={search.example === undefined ? emptySchedule() : exampleSchedule()} />
        </Match>
        <Match when={isNoSuchThing(source.error)}>
          <PageHeader title={t('automations.schedules')} />
          <ErrorState problem={{ title: t('automations.schedule.notFound'), why: t('automations.schedule.notFoundWhy') }} />
        </Match>
        <Match when={source.data?.schedule.id === sourceId() && source.data?.schedule}>
          {(schedule) =>
            params.scheduleId === undefined ? (
              <Editor schedule={null} first={copyOfSchedule(schedule())} />
            ) : (
              <Editor schedule={schedule()} first={formOfSchedule(schedule())} />
            )
          }
        </Match>
      </Switch>
    </Screen>
  )
}

const CATCH_UP_HOURS = ['0', '1', '6', '24', '72', '168']

function Editor(props: { schedule: Schedule | null; first: ScheduleForm }): JSX.Element {
  const navigate = useNavigate()
  const create = useAction('createSchedule')
  const update = useAction('updateSchedule')
  const form = useForm<ScheduleForm>({
    first: props.first,
    check: (fields) => problemsOfSchedule(fields, locale()),
    fieldOfIssue: fieldOfScheduleIssue,
    stored: () => props.schedule && formOfSchedule(props.schedule),
  })
  useDefaultAgent(form)

  const goTo = (id: string) => navigate(`/automations/schedules/${id}`, { replace: props.schedule === null })
  const save = () =>
    form.submit(async (fields) => {
      if (props.schedule === null) {
        const { schedule } = await create.run({ body: bodyOfSchedule(fields) })
        toast({ text: t('automations.schedule.created', { name: schedule.name }) })
        return () => goTo(schedule.id)
      }
      const scheduleId = props.schedule.id
      await update.run({ params: { scheduleId }, body: changesOfSchedule(form.base(), fields) })
      toast({ text: t('common.form.saved') })
      return () => goTo(scheduleId)
    })
  return (
    <EditorForm
      form={form}
      isNew={props.schedule === null}
      submit={props.schedule === null ? t('automations.schedule.create') : t('automations.schedule.save')}
      isBusy={create.isRunning || update.isRunning}
      onSave={() => void save()}
      onCancel={() => navigate(props.schedule === null ? '/automations/schedules' : `/automations/schedules/${props.schedule.id}`)}
    >
      <PageHeader
        title={
          props.schedule === null
            ? t('automations.schedule.createTitle')
            : t('automations.schedule.editTitle', { name: props.schedule.name })
        }
      />
      <div class="flex flex-col gap-4">
        <Panel title={t('automations.schedule.sections.what')}>
          <div class="flex flex-col gap-4">
            <div class="grid grid-cols-2 gap-4 max-sm:grid-cols-1">
              <TextField
                isFirst={props.schedule === null}
                label={t('automations.schedule.name')}
                placeholder={t('automations.schedule.namePlaceholder')}
                problem={form.problemOf('name')}
                value={form.fields.name}
                onValue={(value) => form.change('name', value)}
              />
              <AgentField
                value={form.fields.agentId}
                onValue={(value) => form.change('agentId', value)}
                problem={form.problemOf('agentId')}
              />
            </div>
            <TextArea
              label={t('automations.schedule.task')}
              hint={t('automations.schedule.taskHint')}
              placeholder={t('automations.schedule.taskPlaceholder')}
              rows={4}
              maxRows={16}
              problem={form.problemOf('task')}
              value={form.fields.task}
              onValue={(value) => form.change('task', value)}
            />
          </div>
        </Panel>
        <Panel title={t('automations.schedule.sections.when')}>
          <RhythmField
            cron={form.fields.cron}
            onCron={(value) => form.change('cron', value)}
            timezone={form.fields.timezone}
            problem={form.problemOf('cron')}
          >
            <div class="max-w-72">
              <TimezoneField
                value={form.fields.timezone}
                onValue={(value) => form.change('timezone', value)}
                problem={form.problemOf('timezone')}
              />
            </div>
          </RhythmField>
        </Panel>
        <MoneyPanel form={form} />
        <Panel title={t('automations.schedule.sections.tell')}>
          <NotifyField
            agentId={form.fields.agentId}
            several
            isOn={form.fields.notifyOnSuccess}
            via={form.fields.notifyVia}
            onIsOn={(value) => form.change('notifyOnSuccess', value)}
            onVia={(value) => form.change('notifyVia', value)}
            problem={form.problemOf('notifyOnSuccess') ?? form.problemOf('notifyVia')}
          />
        </Panel>
      </div>
    </EditorForm>
  )
}

/** The daily budget, and how late a missed run may start. */
function MoneyPanel(props: { form: Form<ScheduleForm> }): JSX.Element {
  const agents = useAgents()
  const catchUpOptions = () => {
    const all = CATCH_UP_HOURS.includes(props.form.fields.catchUpHours)
      ? CATCH_UP_HOURS
      : [...CATCH_UP_HOURS, props.form.fields.catchUpHours]
    return all.map((value) => ({ value, label: catchUpText(Number(value), 'choice') }))
  }
  return (
    <Panel title={t('automations.schedule.sections.money')}>
      <div class="grid grid-cols-2 gap-4 max-sm:grid-cols-1">
        <TextField
          inputMode="decimal"
          label={t('automations.schedule.budget')}
          hint={t('automations.schedule.budgetHint')}
          problem={props.form.problemOf('dailyBudgetUsd')}
          value={props.form.fields.dailyBudgetUsd}
          onValue={(value) => props.form.change('dailyBudgetUsd', value)}
        />
        <Select
          label={t('automations.schedule.catchUp')}
          hint={t('automations.schedule.catchUpHint')}
          options={catchUpOptions()}
          value={props.form.fields.catchUpHours}
          onValue={(value) => props.form.change('catchUpHours', value)}
          problem={props.form.problemOf('catchUpHours')}
        />
      </div>
      <UnpricedNote agents={(agents.data?.agents ?? []).filter(({ id }) => id === props.form.fields.agentId)} />
    </Panel>
  )
}
