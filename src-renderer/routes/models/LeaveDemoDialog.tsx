import { For, Show } from 'solid-js'
import type { Agent } from '../../../src-runner/contract/agents.ts'
import type { Model } from '../../../src-runner/contract/providers.ts'
import { useAction, useUpdateSettings } from '../../api/mutations.ts'
import { sentenceOf } from '../../api/problem.ts'
import { t } from '../../lib/language.ts'
import { ConfirmDialog } from '../../ui/ConfirmDialog.tsx'

/**
 * Shown after the first real provider was added: the demo follows a script, and agents that still use it look broken. Agents
 * with the demo as their own model then follow the default.
 */
export function LeaveDemoDialog(props: { model: Model | null; agents: readonly Agent[]; onClose: () => void }) {
  const settings = useUpdateSettings()
  const update = useAction('updateAgent')
  const leave = async () => {
    const { providerId, model } = props.model!
    await settings.run({ body: { defaultModel: { providerId, model } } })
    for (const { id } of props.agents) await update.run({ params: { agentId: id }, body: { model: null } })
  }
  return (
    <ConfirmDialog
      open={props.model !== null}
      onClose={props.onClose}
      title={t('models.leaveDemo.title', { model: props.model?.label ?? '' })}
      confirm={t('models.leaveDemo.use', { model: props.model?.label ?? '' })}
      cancel={t('models.leaveDemo.keep')}
      onConfirm={leave}
      describeError={sentenceOf}
    >
      <p>{t('models.leaveDemo.why')}</p>
      <Show when={props.agents.length > 0}>
        <p class="mt-3">{t('models.leaveDemo.agents', { count: props.agents.length })}</p>
        <ul class="mt-1 list-disc pl-5">
          <For each={props.agents}>{({ name }) => <li>{name}</li>}</For>
        </ul>
      </Show>
    </ConfirmDialog>
  )
}
