import { Screen } from '../../ui/Screen.tsx'

export function ModelsScreen() {
  return <Screen>…</Screen>
}
