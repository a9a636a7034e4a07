import { A } from '@solidjs/router'
import Send from 'lucide-solid/icons/send'
import { createSignal, type JSX, Match, Switch } from 'solid-js'
import { MAX_WEBHOOK_BYTES, type Trigger } from '../../../../src-runner/contract/triggers.ts'
import { useAction } from '../../../api/mutations.ts'
import { issueOf, sentenceOf } from '../../../api/problem.ts'
import { t } from '../../../lib/language.ts'
import { Button } from '../../../ui/Button.tsx'
import { Panel } from '../../../ui/Panel.tsx'
import { TextArea } from '../../../ui/TextArea.tsx'

/** Sends a test delivery. */
export function TestDelivery(props: { trigger: Trigger; first: string }): JSX.Element {
  const test = useAction('testTrigger')
  const [payload, setPayload] = createSignal(props.first)
  const [jobId, setJobId] = createSignal<string | null>(null)
  const obstacle = () => {
    if (props.trigger.agentId === null) return t('automations.webhook.testNoAgent')
    return props.trigger.status === 'paused' ? t('automations.webhook.testPaused') : null
  }
  const send = async () => {
    setJobId(null)
    try {
      setJobId((await test.run({ params: { triggerId: props.trigger.id }, body: { payload: payload() } })).jobId)
    } catch {
      // The action keeps the error, which is shown below.
    }
  }
  return (
    <Panel title={t('automations.webhook.testTitle')} description={t('automations.webhook.testText')}>
      <div class="flex flex-col gap-3">
        <TextArea
          mono
          label={t('automations.webhook.testPayload')}
          rows={5}
          maxRows={14}
          maxLength={MAX_WEBHOOK_BYTES}
          problem={issueOf(test.error, 'payload')}
          value={payload()}
          onValue={(value) => {
            setPayload(value)
            test.reset()
          }}
        />
        <div class="flex flex-wrap items-center gap-3">
          <Button icon={Send} busy={test.isRunning} disabled={obstacle() !== null} onClick={() => void send()}>
            {t('automations.webhook.testSend')}
          </Button>
          <p role="status" class="min-w-0 flex-1 text-sm">
            <Switch>
              <Match when={obstacle()}>{(sentence) => <span class="text-ink-3">{sentence()}</span>}</Match>
              <Match when={test.error !== null && issueOf(test.error, 'payload') === null}>
                <span class="text-bad">{sentenceOf(test.error)}</span>
              </Match>
              <Match when={jobId()}>
                {(id) => (
                  <span class="text-ok">
                    {t('automations.webhook.testSent')}{' '}
                    <A href={`/jobs/${id()}`} class="font-medium underline underline-offset-2">
                      {t('automations.webhook.openJob')}
                    </A>
                  </span>
                )}
              </Match>
            </Switch>
          </p>
        </div>
      </div>
    </Panel>
  )
}
