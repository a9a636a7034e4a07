import Compass from 'lucide-solid/icons/compass'
import { words } from '../kit/words/words.ts'
import { ButtonLink } from '../ui/ButtonLink.tsx'
import { EmptyState } from '../ui/EmptyState.tsx'

export function NotFound() {
  return (
    <EmptyState
      heading="h1"
      icon={Compass}
      title={words().shell.notFound}
      action={<ButtonLink href="/">{words().shell.goHome}</ButtonLink>}
    >
      {words().shell.notFoundWhy}
    </EmptyState>
  )
}
