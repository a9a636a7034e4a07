/** The product's mark: a D whose middle is the water line. */
export function Mark(props: { size?: number }) {
  return (
    <svg viewBox="0 0 24 24" width={props.size ?? 22} height={props.size ?? 22} aria-hidden="true" class="shrink-0">
      <rect width="24" height="24" rx="6" fill="#0b6478" />
      <path
        d="M7 5.500h4.600a6.500 6.500 0 0 1 6.400 5.400c-1.500 0-1.900 1.100-3.600 1.100s-2.100-1.100-3.700-1.100S8.600 12 7 12z"
        fill="#fff"
      />
      <path
        d="M7 14.300c1.600 0 2.100-1.100 3.700-1.100s2 1.100 3.700 1.100 2-1 3.400-1.100a6.500 6.500 0 0 1-6.200 5.300H7z"
        fill="#7fd0e0"
      />
    </svg>
  )
}
