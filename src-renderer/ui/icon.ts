import type { Component } from 'solid-js'

/** A single icon, as `lucide-solid/icons/*` gives them. */
export type Icon = Component<{ class?: string; size?: number | string; 'aria-hidden'?: boolean | 'true' | 'false' }>
