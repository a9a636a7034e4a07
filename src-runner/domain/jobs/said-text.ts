/** What the agent said in these replies. One that broke off counts only until another follows, which says it again. */
export function saidIn(replies: readonly { text: string; interrupted: boolean }[]): string {
  const last = replies.findLastIndex(({ text, interrupted }) => text !== '' || !interrupted)
  return replies
    .filter(({ text, interrupted }, i) => text !== '' && (!interrupted || i === last))
    .map(({ text }) => text)
    .join('\n\n')
}
