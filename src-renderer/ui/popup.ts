/** What floats above the page: menus, lists of choices. */
export const POPUP_CLASS = 'animate-appear z-50 rounded-lg bg-surface text-sm text-ink shadow-pop outline-none'
export const ITEM_CLASS =
  'flex min-h-7 max-md:min-h-10 w-full select-none items-center gap-2 rounded-md px-2 py-1 text-sm outline-none data-highlighted:bg-hover data-disabled:opacity-45'

/** An open dialog hides all the rest of the page from screen readers. What floats above the dialog is part of it, and says so. */
export const TOP_LAYER = { 'data-kb-top-layer': '' }
