export function StepHead(props: { title: string; about: string }) {
  return (
    <div class="pb-6">
      <h1 class="text-2xl font-semibold tracking-tight text-ink text-balance">{props.title}</h1>
      <p class="mt-1 text-md text-ink-2 text-pretty">{props.about}</p>
    </div>
  )
}
