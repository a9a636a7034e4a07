import { encode } from 'uqr'

/** Always dark on white, because many cameras do not read the inverse. */
export function QrCode(props: { text: string; label: string; class?: string }) {
  const code = () => encode(props.text, { border: 2 })
  const path = () =>
    code()
      .data.flatMap((row, y) => row.flatMap((isDark, x) => (isDark ? [`M${x} ${y}h1v1h-1z`] : [])))
      .join('')
  return (
    <svg
      role="img"
      aria-label={props.label}
      class={`rounded-md border border-line ${props.class ?? 'size-32'}`}
      viewBox={`0 0 ${code().size} ${code().size}`}
      shape-rendering="crispEdges"
    >
      <rect width={code().size} height={code().size} fill="#fff" />
      <path d={path()} fill="#000" />
    </svg>
  )
}
