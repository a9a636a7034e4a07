import type { JSX } from 'solid-js'
import type { McpServer } from '../../../../src-runner/contract/mcp.ts'
import { useAction } from '../../../api/mutations.ts'
import { t } from '../../../lib/language.ts'
import { FormDialog } from '../../../ui/FormDialog.tsx'
import { FormProblem } from '../../../features/forms/FormProblem.tsx'
import { bodyOf, draftOf } from './server-draft.ts'
import { ReachFields, SecretFields, ServerFields } from './ServerFields.tsx'

export function EditServerDialog(props: { server: McpServer; onClose: () => void }): JSX.Element {
  const change = useAction('updateMcpServer')
  const draft = draftOf(props.server)
  const save = async () => {
    try {
      await change.run({ params: { mcpServerId: props.server.id }, body: bodyOf(draft.fields) })
      props.onClose()
    } catch {
      // The form shows the error.
    }
  }
  return (
    <FormDialog
      size="lg"
      title={t('connections.mcp.editTitle', { name: props.server.name })}
      description={t('connections.mcp.editWhy')}
      submit={t('common.save')}
      onSubmit={() => void save()}
      isRunning={change.isRunning}
      onClose={props.onClose}
    >
      <ServerFields draft={draft} error={change.error} />
      <ReachFields draft={draft} error={change.error} />
      <SecretFields draft={draft} />
      <FormProblem error={change.error} />
    </FormDialog>
  )
}
