import { A } from '@solidjs/router'
import ChevronLeft from 'lucide-solid/icons/chevron-left'
import type { JSX } from 'solid-js'
import { t } from '../../lib/language.ts'

export function BackLink(): JSX.Element {
  return (
    <A href="/skills" class="-ml-1 mb-3 inline-flex items-center gap-1 rounded-md px-1 text-xs text-ink-3 hover:text-ink">
      <ChevronLeft size={14} aria-hidden="true" />
      {t('skills.title')}
    </A>
  )
}
