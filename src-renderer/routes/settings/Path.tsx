/** The end of a path stays visible, because it tells folders apart. */
export function Path(props: { path: string }) {
  return (
    <code class="max-w-64 truncate font-mono text-xs text-ink-2" title={props.path} dir="rtl">
      <bdi>{props.path}</bdi>
    </code>
  )
}
