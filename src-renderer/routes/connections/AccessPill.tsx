import type { JSX } from 'solid-js'
import { t } from '../../lib/language.ts'
import { Pill } from '../../ui/Pill.tsx'

export function AccessPill(props: { access: 'read' | 'write' }): JSX.Element {
  return <Pill tone={props.access === 'write' ? 'warn' : 'plain'}>{t(`connections.scopes.${props.access}`)}</Pill>
}
