import Compass from 'lucide-solid/icons/compass'
import { t } from '../lib/language.ts'
import { ButtonLink } from '../ui/ButtonLink.tsx'
import { EmptyState } from '../ui/EmptyState.tsx'

export function NotFound() {
  return (
    <EmptyState heading="h1" icon={Compass} title={t('shell.notFound')} action={<ButtonLink href="/">{t('shell.goHome')}</ButtonLink>}>
      {t('shell.notFoundWhy')}
    </EmptyState>
  )
}
