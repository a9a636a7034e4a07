import { For, type JSX, Show } from 'solid-js'
import type { Connector } from '../../../src-runner/contract/connectors.ts'
import { localText, t } from '../../lib/language.ts'
import { Checkbox } from '../../ui/Checkbox.tsx'
import { AccessPill } from './AccessPill.tsx'

/** What the account asks the service for, in plain words. */
export function ScopesField(props: { connector: Connector; value: readonly string[]; onValue: (scopes: string[]) => void }): JSX.Element {
  const toggle = (scope: string, on: boolean) => props.onValue(on ? [...props.value, scope] : props.value.filter((one) => one !== scope))
  return (
    <Show when={props.connector.scopes.length > 0}>
      <fieldset>
        <legend class="mb-1.5 text-sm font-medium text-ink">{t('connections.scopes.title')}</legend>
        <ul class="flex flex-col gap-2">
          <For each={props.connector.scopes}>
            {(one) => (
              <li class="flex items-start gap-2">
                <div class="min-w-0 flex-1">
                  <Checkbox
                    label={localText(one.words)}
                    checked={props.value.includes(one.scope)}
                    onChecked={(on) => toggle(one.scope, on)}
                  />
                </div>
                <AccessPill access={one.access} />
              </li>
            )}
          </For>
        </ul>
      </fieldset>
    </Show>
  )
}
