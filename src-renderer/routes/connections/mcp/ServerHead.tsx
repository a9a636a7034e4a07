import { useNavigate } from '@solidjs/router'
import Globe from 'lucide-solid/icons/globe'
import Pencil from 'lucide-solid/icons/pencil'
import SquareTerminal from 'lucide-solid/icons/square-terminal'
import Trash from 'lucide-solid/icons/trash'
import { createSignal, type JSX, Show } from 'solid-js'
import type { McpServer } from '../../../../src-runner/contract/mcp.ts'
import { useMay } from '../../../api/may.ts'
import { useAction } from '../../../api/mutations.ts'
import { sentenceOf } from '../../../api/problem.ts'
import { toastError } from '../../../api/toast-error.ts'
import { t } from '../../../lib/language.ts'
import { visibleText } from '../../../lib/visible-text.ts'
import { Button } from '../../../ui/Button.tsx'
import { ConfirmDialog } from '../../../ui/ConfirmDialog.tsx'
import { IconTile } from '../../../ui/IconTile.tsx'
import { Menu } from '../../../ui/Menu.tsx'
import { PageHeader } from '../../../ui/PageHeader.tsx'
import { Pill } from '../../../ui/Pill.tsx'
import { Switch } from '../../../ui/Switch.tsx'
import { serverState } from '../connection.ts'
import { SERVER_TONES } from '../ConnectedList.tsx'

/** The name of a server, its state, and what can be done with it. */
export function ServerHead(props: { server: McpServer; isTesting: boolean; onTest: () => void; onEdit: () => void }): JSX.Element {
  const navigate = useNavigate()
  const change = useAction('updateMcpServer')
  const remove = useAction('deleteMcpServer')
  const may = useMay()
  const [isDeleting, setDeleting] = createSignal(false)
  const params = () => ({ mcpServerId: props.server.id })
  const about = () =>
    [t(props.server.transport.kind === 'stdio' ? 'connections.mcp.program' : 'connections.mcp.remote'), props.server.version]
      .filter((part) => part !== null)
      .map(visibleText)
      .join(' · ')
  return (
    <>
      <PageHeader
        leading={<IconTile icon={props.server.transport.kind === 'stdio' ? SquareTerminal : Globe} size="lg" />}
        title={visibleText(props.server.name)}
        description={
          <span class="flex flex-wrap items-center gap-2">
            <span class="wrap-anywhere">{about()}</span>
            <Pill tone={SERVER_TONES[serverState(props.server)]}>{t(`connections.mcp.status.${serverState(props.server)}`)}</Pill>
            <Show when={props.server.sandboxed === false}>
              <Pill tone="warn">{t('connections.mcp.runs.unsandboxed')}</Pill>
            </Show>
          </span>
        }
        actions={
          <>
            <div class="[&_label]:sr-only">
              <Switch
                label={t('connections.mcp.switchLabel', { name: props.server.name })}
                checked={props.server.enabled}
                disabled={change.isRunning || !may('updateMcpServer')}
                onChecked={(enabled) => void change.run({ params: params(), body: { enabled } }).catch(toastError)}
              />
            </div>
            <Show when={may('updateMcpServer')}>
              <Button busy={props.isTesting} disabled={!props.server.enabled} onClick={() => props.onTest()}>
                {t('connections.test')}
              </Button>
              <Menu
                label={t('connections.actions', { name: props.server.name })}
                items={[
                  { label: t('common.edit'), icon: Pencil, onSelect: () => props.onEdit() },
                  'separator',
                  { label: t('common.delete'), icon: Trash, tone: 'bad', onSelect: () => setDeleting(true) },
                ]}
              />
            </Show>
          </>
        }
      />
      <ConfirmDialog
        open={isDeleting()}
        onClose={() => setDeleting(false)}
        title={t('connections.mcp.deleteTitle', { name: props.server.name })}
        confirm={t('common.delete')}
        tone="bad"
        onConfirm={async () => {
          await remove.run({ params: params() })
          navigate('/connections')
        }}
        describeError={sentenceOf}
      >
        {t('connections.mcp.deleteWhy')}
      </ConfirmDialog>
    </>
  )
}
