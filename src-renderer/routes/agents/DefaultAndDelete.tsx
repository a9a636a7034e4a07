import { useNavigate } from '@solidjs/router'
import { createSignal, type JSX, Show } from 'solid-js'
import type { Agent } from '../../../src-runner/contract/agents.ts'
import { ApiError } from '../../api/client.ts'
import { useAction } from '../../api/mutations.ts'
import { sentenceOf } from '../../api/problem.ts'
import { useAgents, useJobs } from '../../api/queries.ts'
import { toastError } from '../../api/toast-error.ts'
import { t } from '../../lib/language.ts'
import { Button } from '../../ui/Button.tsx'
import { ConfirmDialog } from '../../ui/ConfirmDialog.tsx'
import { Panel } from '../../ui/Panel.tsx'
import { toast } from '../../ui/Toasts.tsx'

/** Makes an agent the default one, or deletes it. */
export function DefaultAndDelete(props: { agent: Agent; onDeleted: () => void }): JSX.Element {
  const navigate = useNavigate()
  const agents = useAgents()
  const update = useAction('updateAgent')
  const remove = useAction('deleteAgent')
  const [isAsking, setAsking] = createSignal(false)
  const underWay = useJobs(() =>
    isAsking() ? { agentId: props.agent.id, status: ['pending', 'running', 'awaiting_approval', 'awaiting_child'] } : null,
  )
  const isOnly = () => agents.data?.agents.length === 1
  const makeDefault = async () => {
    await update.run({ params: { agentId: props.agent.id }, body: { isDefault: true } }).catch(toastError)
  }
  const deleteNow = async () => {
    await remove.run({ params: { agentId: props.agent.id } })
    props.onDeleted()
    toast({ text: t('agents.deleted', { name: props.agent.name }) })
    navigate('/agents', { replace: true })
  }
  const describe = (thrown: unknown) =>
    thrown instanceof ApiError && thrown.code === 'agent_is_last' ? t('agents.deleteLast') : sentenceOf(thrown)
  return (
    <Panel>
      <div class="flex flex-col gap-4">
        <div class="flex flex-wrap items-center gap-3">
          <p class="min-w-48 flex-1 text-sm text-ink-2">{props.agent.isDefault ? t('agents.isTheDefault') : t('agents.makeDefaultHint')}</p>
          <Show when={!props.agent.isDefault}>
            <Button busy={update.isRunning} onClick={() => void makeDefault()}>
              {t('agents.makeDefault')}
            </Button>
          </Show>
        </div>
        <div class="flex flex-wrap items-center gap-3 border-t border-line pt-4">
          <p class="min-w-48 flex-1 text-sm text-ink-2">{isOnly() ? t('agents.deleteLast') : t('agents.deleteText')}</p>
          <Button variant="danger" disabled={isOnly()} onClick={() => setAsking(true)}>
            {t('agents.deleteAgent')}
          </Button>
        </div>
      </div>
      <ConfirmDialog
        open={isAsking()}
        onClose={() => setAsking(false)}
        title={t('agents.deleteTitle', { name: props.agent.name })}
        confirm={t('agents.deleteAgent')}
        tone="bad"
        onConfirm={deleteNow}
        describeError={describe}
      >
        <p>{t('agents.deleteText')}</p>
        <Show when={underWay.items.length > 0}>
          <p class="mt-2 text-warn">{t('agents.deleteRunning', { count: underWay.items.length })}</p>
        </Show>
      </ConfirmDialog>
    </Panel>
  )
}
