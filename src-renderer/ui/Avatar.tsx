import { hashOf, initialsOf } from '../lib/text.ts'

/** Eight quiet colours that carry white text in both themes (4.5:1 or better). */
const COLOURS = [
  'bg-[#0b6478]',
  'bg-[#4a5fb0]',
  'bg-[#7a4fa3]',
  'bg-[#a03e6c]',
  'bg-[#a8452c]',
  'bg-[#85610f]',
  'bg-[#3d7031]',
  'bg-[#4c6471]',
]
const SIZES = {
  xs: 'size-5 text-[0.5625rem] rounded-sm',
  sm: 'size-6 text-2xs rounded-md',
  md: 'size-8 text-xs rounded-lg',
  lg: 'size-12 text-lg rounded-xl',
}

/** An agent's mark: its own emoji or letters, else its initials, on a colour that its name decides. */
export function Avatar(props: { name: string; text?: string | null; size?: keyof typeof SIZES }) {
  return (
    <span
      aria-hidden="true"
      class={`inline-flex shrink-0 items-center justify-center font-semibold text-[#fff] select-none ${SIZES[props.size ?? 'md']} ${COLOURS[hashOf(props.name) % COLOURS.length]}`}
    >
      {props.text || initialsOf(props.name)}
    </span>
  )
}
